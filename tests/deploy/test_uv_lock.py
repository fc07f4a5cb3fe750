"""uv.lock: the same packages, versions and files as requirements.lock, and the requirements of today."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tools.lock import CUDA, LOCK, UV_LOCK, requirements
from viz import ROOT

TEXT = LOCK.read_text("utf8")
UV = tomllib.loads(UV_LOCK.read_text("utf8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
(HEADLIGHT,) = (package for package in UV["package"] if package["name"] == PROJECT["project"]["name"])
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def public(version: str) -> str:
    """Return a version without the build's name: torch's for CPUs is 2.13.0+cpu."""
    return version.partition("+")[0]


def reachable(roots: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names of the packages that these dependencies bring."""
    names, pending = set(), [root["name"] for root in roots]
    while pending:
        if (name := pending.pop()) not in names:
            names.add(name)
            packages = [package for package in UV["package"] if package["name"] == name]
            pending += [part["name"] for package in packages for part in package.get("dependencies", ())]
    return names


def hashes(package: Mapping[str, Any]) -> set[str]:
    """Return the hashes of a package's files."""
    return {wheel["hash"] for wheel in (*package.get("wheels", ()), *filter(None, [package.get("sdist")]))}


def test_uv_lock_versions_equal_requirements_lock():
    app = reachable([*HEADLIGHT["dependencies"], *HEADLIGHT["optional-dependencies"]["app"]])
    in_uv = {(package["name"], public(package["version"])) for package in UV["package"] if package["name"] in app}
    in_pip = {(canonicalize_name(package.name), str(package.specifier)[2:]) for package in requirements(TEXT)}
    assert in_uv == in_pip


def test_uv_lock_files_equal_requirements_lock():
    """The same files in both, but that one may have those for more systems."""
    blocks = re.split(r"\n(?=[A-Za-z0-9])", TEXT)[1:]
    accepted: dict[tuple[str, str], set[str]] = {}
    for package, block in zip(requirements(TEXT), blocks, strict=True):
        accepted[canonicalize_name(package.name), str(package.specifier)[2:]] = set(re.findall(r"--hash=(\S+)", block))
    for package in UV["package"]:
        if files := accepted.get((package["name"], public(package["version"]))):
            lock_hashes = hashes(package)
            assert lock_hashes <= files or files <= lock_hashes, package["name"]


@pytest.mark.parametrize(
    ("extra", "files"),
    [("", ""), ("app", "requirements.txt requirements-data.txt"), ("notebook", "requirements-notebook.txt")],
)
def test_uv_lock_knows_todays_requirements(extra, files):
    """An entry of the lock for each requirement, with the versions that it allows today."""
    lines = "\n".join((ROOT / file).read_text("utf8") for file in files.split()) or "\n".join(
        PROJECT["project"]["dependencies"]
    )
    expected: dict[str, set[SpecifierSet]] = {}
    for package in requirements(lines):
        expected.setdefault(canonicalize_name(package.name), set()).add(package.specifier)
    lock_specifiers: dict[str, set[SpecifierSet]] = {}
    for entry in HEADLIGHT["metadata"]["requires-dist"]:
        if ("extra == " in entry.get("marker", "")) == bool(extra) and extra in entry.get("marker", ""):
            lock_specifiers.setdefault(entry["name"], set()).add(SpecifierSet(entry["specifier"]))
    assert lock_specifiers == expected


def test_uv_lock_models_equal_requirements_models():
    text = (ROOT / "requirements-models.txt").read_text("utf8")
    (expected,) = requirements(text)
    assert PROJECT["dependency-groups"]["models"] == [str(expected)]
    (package,) = (package for package in UV["package"] if package["name"] == expected.name)
    assert re.findall(r"--hash=(\S+)", text)[0] in hashes(package) and expected.specifier.contains(package["version"])


def test_uv_lock_omits_unwanted_packages():
    unwanted = {Requirement(line).name for line in PROJECT["tool"]["uv"]["override-dependencies"]}
    names = {package["name"] for package in UV["package"]}
    assert not names & unwanted and not [name for name in names if CUDA.match(f"{name}==")]


def test_uv_lock_has_torch_everywhere():
    """A file of torch for CPUs for each Python on Linux, and one of PyPI for each Python elsewhere."""
    builds = {package["version"]: package for package in UV["package"] if package["name"] == "torch"}
    cpu = next(build for version, build in builds.items() if version.endswith("+cpu"))
    pypi = next(build for version, build in builds.items() if "+" not in version)
    for python in PYTHONS:
        tag = "cp" + python.replace(".", "")
        for build, systems in ((cpu, ("linux|x86_64", "linux|aarch64")), (pypi, ("macosx|arm64", "win|amd64"))):
            for system, _, machine in (text.partition("|") for text in systems):
                pattern = rf"-{tag}-{tag}-[\w.]*{system}[\w.]*{machine}\.whl"
                assert [wheel for wheel in build["wheels"] if re.search(pattern, wheel["url"])], pattern


def test_declared_pythons_match_lock():
    project = PROJECT["project"]
    assert project["requires-python"] == UV["requires-python"] == f">={PYTHONS[0]}"
    versions = [line.rpartition(" ")[2] for line in project["classifiers"]]
    assert versions == ["3", *PYTHONS]
