"""Installed packages: pinned with hashes, under a licence, and in the bill of materials."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lock import CUDA, LICENCES, LOCK, REQUIREMENTS, licence, requirements, third_party
from tools.upgrade import outcome
from viz import ROOT

TEXT = LOCK.read_text("utf8")
APPLICABLE = [package for package in requirements(TEXT) if package.marker is None or package.marker.evaluate()]
VERSIONS = {canonicalize_name(package.name): str(package.specifier).removeprefix("==") for package in APPLICABLE}


def installed(name: str) -> str | None:
    """The version of a package that is here."""
    try:
        return importlib.metadata.version(name).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
UNWANTED = {Requirement(line).name for line in PROJECT["tool"]["uv"]["override-dependencies"]}
"""Packages that others ask for and the program does without."""


@pytest.fixture(scope="module")
def as_locked() -> None:
    """Skip unless the lock is installed, as in CI; requirements.txt allows newer versions."""
    installed_versions = {name: installed(name) for name in VERSIONS}
    if installed_versions != VERSIONS and not os.environ.get("CI"):
        pytest.skip("other versions are installed here: pip install --no-deps --require-hashes -r requirements.lock")
    assert installed_versions == VERSIONS


def wanted_by(package: str) -> list[Requirement]:
    """Return a package's requirements on this machine, without its extras."""
    requirements = [Requirement(line) for line in importlib.metadata.requires(package) or ()]
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]


def test_requirements_install_the_lock():
    """The README's command installs what CI does: each package and no other, in the version of the lock."""
    newest = set()
    for package in requirements(REQUIREMENTS.read_text("utf8")):
        (end,) = (bound.version for bound in package.specifier if bound.operator in ("==", "<="))
        assert package.specifier.contains(end) and all(bound.operator != "<" for bound in package.specifier)
        newest.add((canonicalize_name(package.name), end))
    assert newest == {(package.name, str(package.specifier).removeprefix("==")) for package in requirements(TEXT)}


@pytest.mark.usefixtures("as_locked")
def test_lock_covers_requirements():
    for name in VERSIONS:
        for requirement in wanted_by(name):
            if not CUDA.match(f"{requirement.name}==") and canonicalize_name(requirement.name) not in UNWANTED:
                assert requirement.specifier.contains(
                    VERSIONS[canonicalize_name(requirement.name)], prereleases=True
                ), (
                    name,
                    requirement,
                )


def test_upgrade_without_tests_fails():
    """A name that selects no test any more is no success."""
    is_green, result = outcome(Path(sys.executable), ("tests/test_citation.py", "-k", "no_such_name"))
    assert not is_green and "deselected" in result


def test_every_package_has_hashes():
    blocks = re.split(r"\n(?=[A-Za-z0-9])", TEXT)[1:]
    assert len(blocks) == len(requirements(TEXT))
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in blocks)
    assert not re.search(r"^(nvidia|cuda|triton)", TEXT, re.MULTILINE)


@pytest.mark.usefixtures("as_locked")
def test_licences_match_installed_packages():
    assert LICENCES.read_text("utf8") == third_party(TEXT)
    assert all(map(licence, VERSIONS))


@pytest.mark.parametrize("place", ["Dockerfile", ".ci/run"])
def test_installs_use_the_lock(place):
    text = (ROOT / place).read_text("utf8")
    assert re.search(r"--no-deps --require-hashes .*requirements\.lock", text)
    assert place != "Dockerfile" or "requirements.txt" not in text


def test_sbom_names_every_package(tmp_path):
    bill = tmp_path / "sbom.cdx.json"
    command = [
        str(Path(sys.executable).with_name("cyclonedx-py")),
        "requirements",
        str(LOCK),
        "--output-file",
        str(bill),
    ]
    subprocess.run(command, check=True, capture_output=True)
    components = json.loads(bill.read_text("utf8"))["components"]
    packages = {(canonicalize_name(component["name"]), component["version"]) for component in components}
    assert packages == {
        (canonicalize_name(component.name), str(component.specifier).removeprefix("=="))
        for component in requirements(TEXT)
    }
