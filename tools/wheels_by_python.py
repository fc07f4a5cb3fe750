"""Files of requirements for each Python: ``python -m tools.wheels_by_python [requirements-dev.txt]`` prints a table.

For each package of the file, requirements.txt by default, in the pinned version or that of requirements.lock, the
index's metadata say which files there are; a Python has one if some wheel's tags fit it on that system.
"""

import json
import re
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.tags import compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename

from viz import ROOT
from viz.wheels import index_url

PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
SYSTEMS = {
    "linux": [f"manylinux_2_{minor}_x86_64" for minor in range(36, 4, -1)]
    + [f"{name}_x86_64" for name in ("manylinux2014", "manylinux2010", "manylinux1", "linux")],
    "darwin": list(mac_platforms((15, 0), "arm64")),
    "win32": ["win_amd64"],
}
"""Platforms of pip's tags: Linux on x86-64, macOS on Apple's processors, Windows."""


def direct(file: str) -> Iterator[tuple[Requirement, str]]:
    """Return the requirements of a file, with the version of each: the pinned one, or that of the lock."""
    lock = (ROOT / "requirements.lock").read_text("utf8")
    for line in (ROOT / file).read_text("utf8").splitlines():
        if re.match(r"\w", line):
            requirement = Requirement(line.partition("#")[0])
            pinned = re.match("==([^,]+)$", str(requirement.specifier))
            name = re.escape(canonicalize_name(requirement.name))
            yield requirement, pinned[1] if pinned else re.findall(rf"^{name}==([^\s;\\]+)", lock, re.MULTILINE)[0]


def wheels(name: str, version: str) -> list[str]:
    """Return the names of a version's wheels in the index."""
    address = f"{index_url().rstrip('/')}/{canonicalize_name(name)}/"
    request = urllib.request.Request(address, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        files = [file["filename"] for file in json.load(answer)["files"]]
    return [file for file in files if file.endswith(".whl") and str(parse_wheel_filename(file)[1]) == version]


def pythons(files: list[str], system: str) -> list[str]:
    """Return the Pythons that one of these files can be installed for on a system."""
    tags = {tag for file in files for tag in parse_wheel_filename(file)[3]}
    platforms = SYSTEMS[system]
    return [
        ".".join(map(str, python))
        for python in PYTHONS
        if tags.intersection(
            [*cpython_tags(python, platforms=platforms), *compatible_tags(python, platforms=platforms)]
        )
    ]


def main() -> None:
    """Print the table: a cell names the Pythons that have no file."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", default="requirements.txt")
    print(f"| package | version | {' | '.join(SYSTEMS)} |\n|---|---|{'---|' * len(SYSTEMS)}")  # noqa: T201
    for requirement, version in direct(parser.parse_args().file):
        files = wheels(requirement.name, version)
        cells = []
        for system in SYSTEMS:
            environment = {"sys_platform": system, "platform_machine": "arm64" if system == "darwin" else "x86_64"}
            missing = [".".join(map(str, python)) for python in PYTHONS]
            missing = [python for python in missing if python not in pythons(files, system)]
            needed = requirement.marker is None or requirement.marker.evaluate(environment)
            cells.append(f"none for {', '.join(missing)}" if needed and missing else "all" if needed else "not needed")
        print(f"| {requirement.name} | {version} | {' | '.join(cells)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
