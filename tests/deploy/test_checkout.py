"""A checkout on Windows or macOS: the same files with the same bytes as on Linux."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

import pytest

from viz import ROOT

LONGEST = 150
"""Characters of a path below the checkout; Windows allows 260 with the folders above it."""
FORBIDDEN = re.compile(r'[<>:"\\|?*\x00-\x1f]|[. ]$')
DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
"""Names of devices on Windows, with any ending."""
LINK = "120000"
"""git's mode of a symbolic link, which Windows checks out as a text file."""


def list_files(*options: str) -> list[str]:
    """Return git's list of the project's files."""
    command = ["git", "ls-files", "-z", *options]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if listing.returncode:
        pytest.skip("not a checkout")
    return listing.stdout.rstrip("\0").split("\0")


def unportable(names: Iterable[str]) -> list[str]:
    """Return the names that Windows or macOS cannot have beside all others."""
    names = list(names)
    same = Counter(name.casefold() for name in names)
    return [
        name
        for name in names
        if same[name.casefold()] > 1
        or len(name) > LONGEST
        or any(FORBIDDEN.search(part) or DEVICES.match(part) for part in PurePosixPath(name).parts)
    ]


@pytest.mark.parametrize(
    "names",
    [
        *(["a:b.py"], ["what?.md"], ["pages/aux/page.py"], ["assets/nul.json"], ["a./b.py"], ["a.py "]),
        *(["README.md", "readme.md"], ["a" * 151]),
    ],
)
def test_unportable_names_are_found(names):
    assert unportable(names) == names
    assert not unportable(["pages/auxiliary.py", "console/com.py", ".gitignore", "a b.md", "a" * 150])


def test_file_names_fit_every_system():
    assert not unportable(list_files("--cached", "--others", "--exclude-standard"))
    assert not [line for line in list_files("--stage") if line.startswith(LINK)]


def test_text_files_keep_line_ends():
    """git on Windows ends lines in two characters unless an attribute forbids it, and the tests compare bytes."""
    lines = list_files("--eol")
    assert len(lines) > 1000
    assert not [line for line in lines if "eol=lf" not in line or re.search("[iw]/(crlf|mixed)", line)]
