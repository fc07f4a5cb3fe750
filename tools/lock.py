"""Write both locks and THIRD_PARTY.md anew: ``python -m tools.lock``, after a change of requirements.txt.

Its first part is written by hand; what these packages bring is written below, so that pip installs the versions that
all tests run with. uv.lock and requirements.lock name the same packages, in the same versions, with the hashes of their
files. torch is the build for CPUs alone: what PyPI's build for Linux asks for beside it (several GB of CUDA) is left
out, so requirements.lock is installed with ``--no-deps``. PyTorch's index for CPUs has to be reachable.
"""

import importlib.metadata
import re
import subprocess
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from viz import ROOT
from viz.models import registry

UV_LOCK, LOCK, LICENCES = ROOT / "uv.lock", ROOT / "requirements.lock", ROOT / "THIRD_PARTY.md"
REQUIREMENTS = ROOT / "requirements.txt"
BROUGHT = """\
# What these bring, in the versions of requirements.lock: `python -m tools.lock` writes these lines. Packages of
# models ask for more (sentence-transformers): nothing uses it, and the locks leave it out.
"""
CUDA = re.compile(r"(nvidia|cuda)-|triton==")
HEAD = """\
# Every package that requirements.txt brings, in one version, with the hashes of its files: python -m tools.lock
#     pip install --no-deps --require-hashes -r requirements.lock
# torch is the build for CPUs alone. On Linux, where pip does not find it: --extra-index-url https://download.pytorch.org/whl/cpu
"""
ABOUT = """\
# What others made

Headlight itself, and the weights trained for it, are under the MIT licence (`LICENSE`). This list is written by
`python -m tools.lock` from what the installed packages say of themselves, and from the registry of models.

## Packages

| package | version | licence |
|---|---|---|
{packages}

## Weights

| model | licence | where from |
|---|---|---|
{weights}

## Code in the browser

MiniSearch 7.2.0 (`viz/components/client/vendor/minisearch`), which finds and weighs words in the search: Copyright 2022
Luca Ongaro, MIT; its licence stands beside it.

## Data

`assets/digits/held_out.png` holds 360 of the digits that come with scikit-learn: E. Alpaydin and C. Kaynak,
*Optical Recognition of Handwritten Digits*, UCI Machine Learning Repository, 1998, CC BY 4.0.
"""


def resolved(requirements: str) -> list[str]:
    """Each package with its hashes, as pip reads them: the newest versions that fit together, on every system."""
    command = ["uv", "pip", "compile", "--universal", "--python-version=3.11", "--generate-hashes", "--no-header"]
    index = subprocess.run(["pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False)
    if index.stdout.strip():
        command.append(f"--index-url={index.stdout.strip()}")
    options = ["--no-annotate", "--no-emit-index-url", "--quiet", "-"]
    process = subprocess.run(
        command + options, input=requirements, capture_output=True, text=True, check=True, cwd=ROOT
    )
    packages = re.split(r"\n(?=\S)", process.stdout.strip())
    return [package for package in packages if not CUDA.match(package)]


def torch_for_cpus() -> list[str]:
    """The hashes of torch's files for CPUs, which are in PyTorch's own index alone, as uv.lock has them."""
    packages = tomllib.loads(UV_LOCK.read_text("utf8"))["package"]
    (torch,) = (package for package in packages if package["name"] == "torch" and package["version"].endswith("+cpu"))
    return [str(wheel["hash"]) for wheel in torch["wheels"]]


def brought(direct: str, packages: list[str]) -> str:
    """The packages, without hashes, that the direct requirements do not name."""
    names = {canonicalize_name(package.name) for package in requirements(direct)}
    lines = (package.partition(" \\\n")[0] for package in packages)
    return "".join(f"{line}\n" for line in lines if canonicalize_name(Requirement(line).name) not in names)


def lock(packages: list[str]) -> str:
    """The text of requirements.lock."""
    (torch,) = (i for i, package in enumerate(packages) if package.startswith("torch=="))
    packages[torch] += "".join(f" \\\n    --hash={sha256}" for sha256 in torch_for_cpus())
    return HEAD + "\n".join(packages) + "\n"


def requirements(text: str) -> list[Requirement]:
    """The packages of a lock, or of a file of requirements."""
    lines = (re.split(r"\s*(?:#|\\|--hash)", line)[0] for line in text.splitlines() if re.match(r"\w", line))
    return [Requirement(line) for line in lines]


def licence(name: str) -> str:
    """Licence of an installed package: its expression, else its classifiers, else its first line of text."""
    metadata = importlib.metadata.metadata(name)
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = [
        line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier", []) if line.startswith("License")
    ]
    licence_text = metadata["License"].strip() if "License" in metadata else ""
    return ", ".join(classifiers) or (licence_text.splitlines()[0][:60] if licence_text else "")


def third_party(text: str) -> str:
    """The text of THIRD_PARTY.md, for the packages of a lock that are installed here, and all models."""
    installable = [package for package in requirements(text) if package.marker is None or package.marker.evaluate()]
    packages = (
        f"| {package.name} | {str(package.specifier).removeprefix('==')} | {licence(package.name)} |"
        for package in sorted(installable, key=lambda package: package.name.lower())
    )
    weights = (
        f"| {entry.id} | {entry.licence} | {entry.package or entry.hub or 'trained by this project'} |"
        for entry in (*registry.entries(), *registry.checkpoints(), *registry.picture_entries())
    )
    return ABOUT.format(packages="\n".join(packages), weights="\n".join(weights))


def main() -> None:
    """Write all four."""
    direct = REQUIREMENTS.read_text("utf8").partition(BROUGHT)[0]
    packages = resolved(direct)
    REQUIREMENTS.write_text(direct + BROUGHT + brought(direct, packages), "utf8")
    subprocess.run(["uv", "lock", "--upgrade"], check=True, cwd=ROOT)
    text = lock(packages)
    LOCK.write_text(text, "utf8")
    LICENCES.write_text(third_party(text), "utf8")


if __name__ == "__main__":
    main()
