"""A version of Streamlit that is not supported is refused at the start, in a sentence."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests import SAFETY_NET
from viz import ROOT
from viz.streamlit_internals.version import HIGHEST, LOWEST, numbers_of, version_notice, version_problem


@pytest.mark.parametrize("script", ["app.py", "serve.py"])
def test_unsupported_version_ends_the_start(tmp_path, script):
    """The version is read from the package's metadata, here of one that lies before the installed one."""
    (tmp_path / "streamlit-1.64.0.dist-info").mkdir()
    metadata = tmp_path / "streamlit-1.64.0.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: streamlit\nVersion: 1.64.0\n")
    process = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", script, "--server.headless=true", "--server.port=0"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
        check=False,
    )
    assert process.returncode == 1
    assert version_problem("1.64.0") in process.stderr
    assert "Traceback" not in process.stdout + process.stderr


def test_tested_versions_are_those_required():
    """A version is refused or noticed where requirements.txt would not have installed it."""
    required = re.search(r"^streamlit>=([\d.]+),<=([\d.]+)", (Path(ROOT) / "requirements.txt").read_text("utf-8"), re.M)
    assert required
    assert tuple(numbers_of(part) for part in required.groups()) == (LOWEST, HIGHEST)
    assert LOWEST <= numbers_of(version("streamlit")) <= HIGHEST


@pytest.mark.parametrize(
    ("installed", "is_supported", "is_tested"),
    [
        ("1.65.0", True, True),
        ("1.67.3", True, True),
        ("1.64.0", False, True),
        ("1.68.0rc1", True, False),
        ("2.0", True, False),
        ("0.99", False, True),
    ],
)
def test_version_outside_range_is_named(installed, is_supported, is_tested):
    """An older one has not what the app needs; a newer one may have been mended since, and starts with a notice."""
    assert (version_problem(installed) == "") is is_supported
    assert (version_notice(installed) == "") is is_tested
    assert installed in version_problem(installed) + version_notice(installed) + "1.65.0 1.67.3"
