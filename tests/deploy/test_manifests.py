"""Deployment files match the published schemas of their checkers, which refuse invalid ones."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY, DOCKERFILE, kinds, read

OLDEST, NEWEST = "1.30", "1.37"
"""Kubernetes: the first with a preStop that sleeps switched on, and the newest the checker knows."""


def is_compose(path: Path) -> bool:
    import check_jsonschema  # building its grammars takes seconds, which would be those of every worker

    arguments = ["--builtin-schema", "vendor.compose-spec", str(path)]
    return check_jsonschema.main.main(arguments, standalone_mode=False) == 0


def lint(dockerfile: str) -> str:
    """Return hadolint's findings."""
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert hadolint, "pip install -r requirements-dev.txt"
    return subprocess.run([hadolint, "-"], input=dockerfile, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_the_manifests_are_kubernetes(version):
    import kubernetes_validate  # it builds grammars, too

    for manifest in kinds().values():
        kubernetes_validate.validate(manifest, version, strict=True)


def test_compose_is_compose(tmp_path):
    assert is_compose(DEPLOY / "compose.yaml")
    wrong = tmp_path / "compose.yaml"
    wrong.write_text((DEPLOY / "compose.yaml").read_text("utf8").replace("stop_grace_period", "stop_grace"))
    assert not is_compose(wrong)


def test_hadolint_finds_nothing():
    assert lint(DOCKERFILE) == ""
    assert "DL3006" in lint(re.sub(r":3\.11\.14\S*", "", DOCKERFILE))
    assert "DL3045" in lint(DOCKERFILE.replace("WORKDIR /srv/packages\n", ""))


def test_replica_passes_manifest_checks():
    """Of kube-score's and kube-linter's rules those that concern one container; none of them can be installed here."""
    pod = kinds()["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["imagePullPolicy"] in ("Always", "IfNotPresent")
    assert not container["image"].endswith(":latest") and ":" in container["image"]
    for kind in ("requests", "limits"):
        assert {"cpu", "memory", "ephemeral-storage"} <= container["resources"][kind].keys()
    (apart,) = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    labels = kinds()["Deployment"]["spec"]["selector"]["matchLabels"]
    assert apart["podAffinityTerm"]["labelSelector"]["matchLabels"] == labels
    assert pod["automountServiceAccountToken"] is False
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()


def test_foreign_images_have_digests():
    services = read("compose.yaml")["services"]
    images = {service["image"] for service in services.values() if "build" not in service}
    assert images and all(re.fullmatch(r"[\w./-]+:[\d.]+[\w.-]*@sha256:[0-9a-f]{64}", image) for image in images)


def test_base_image_has_digest():
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.11\.14-slim-bookworm@sha256:[0-9a-f]{64}", bases[0])
    assert DOCKERFILE.count("uninstall --yes pip") == 2, "where nothing is installed any more, no pip is needed"
