"""The deployment files, read once for these tests."""

import json
import re
from functools import cache
from typing import Any

import yaml

from viz import ROOT

DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
NGINX = (DEPLOY / "nginx.conf").read_text("utf8")
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf8")


@cache
def read(name: str) -> Any:
    """A YAML file of ``deploy/``."""
    return yaml.safe_load((DEPLOY / name).read_text("utf8"))


def space() -> Any:
    """The head of README.md: what a Hugging Face Space reads."""
    return yaml.safe_load((ROOT / "README.md").read_text("utf8").split("---\n")[1])


def render() -> Any:
    """The service of render.yaml, its environment by name."""
    (service,) = yaml.safe_load((ROOT / "render.yaml").read_text("utf8"))["services"]
    return service | {"envVars": {variable["key"]: variable["value"] for variable in service["envVars"]}}


def cloud_run() -> Any:
    """Return app.json, which Cloud Run's button reads."""
    return json.loads((ROOT / "app.json").read_text("utf8"))


@cache
def kinds() -> dict[str, Any]:
    """The Kubernetes manifests, one of each kind."""
    manifests = {
        manifest["kind"]: manifest for manifest in map(yaml.safe_load, (path.read_text("utf8") for path in MANIFESTS))
    }
    assert len(manifests) == len(MANIFESTS)
    return manifests


def pod() -> Any:
    """Return the pod's specification in Kubernetes."""
    return kinds()["Deployment"]["spec"]["template"]["spec"]


def container() -> Any:
    """Return the pod's only container."""
    (only,) = pod()["containers"]
    return only


def replicas() -> dict[str, Any]:
    """The services of compose.yaml that are replicas, by name."""
    return {name: service for name, service in read("compose.yaml")["services"].items() if name.startswith("app")}


def image_environment() -> dict[str, str]:
    """Return the image's environment variables."""
    blocks = re.findall(r"^ENV ((?:.*\\\n)*.*)", DOCKERFILE, re.MULTILINE)
    return dict(part.split("=", 1) for part in re.findall(r"\S+=\S*", " ".join(blocks).replace('""', "")))


def size(text: str) -> int:
    """Return the bytes of a Docker or Kubernetes size: Docker's 2G is Kubernetes' 2Gi."""
    number, unit = re.fullmatch(r"(\d+)([KMG])(?:i|B)?", text.strip(), re.IGNORECASE).groups()  # type: ignore[union-attr]
    return int(number) * 2 ** {"K": 10, "M": 20, "G": 30}[unit.upper()]


def seconds(text: str) -> int:
    """Return the number of seconds of a duration such as ``20s``."""
    return int(text.removesuffix("s"))
