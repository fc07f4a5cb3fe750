"""A version of Streamlit that is not supported is refused at the start, in a sentence."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from viz import ROOT
from viz.streamlit_internals.version import BELOW, LOWEST, version_problem


@pytest.mark.parametrize("script", ["app.py", "serve.py"])
def test_unsupported_version_ends_the_start(tmp_path, script):
    """The version is read from the package's metadata, here of one that lies before the installed one."""
    (tmp_path / "streamlit-1.66.1.dist-info").mkdir()
    metadata = tmp_path / "streamlit-1.66.1.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: streamlit\nVersion: 1.66.1\n")
    started = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", script, "--server.headless=true", "--server.port=0"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert started.returncode == 1
    assert version_problem("1.66.1") in started.stderr
    assert "Traceback" not in started.stdout + started.stderr


def test_supported_versions_are_those_required():
    (pinned,) = re.findall(r"^streamlit==(\d+)\.(\d+)\.", (Path(ROOT) / "requirements.txt").read_text("utf-8"), re.M)
    major, minor = map(int, pinned)
    assert ((major, minor), (major, minor + 1)) == (LOWEST, BELOW)


@pytest.mark.parametrize(
    ("installed", "is_supported"),
    [("1.67.0", True), ("1.67.3", True), ("1.66.1", False), ("1.68.0rc1", False), ("2.0", False), ("0.99", False)],
)
def test_version_in_range_is_supported(installed, is_supported):
    assert (version_problem(installed) == "") is is_supported
    assert is_supported or installed in version_problem(installed)
