"""CITATION.cff is what its schema asks for, and says what the changelog says."""

import re
import subprocess
import sys

import pytest
import yaml

from viz import ROOT

CITATION = ROOT / "CITATION.cff"


@pytest.mark.long
def test_it_is_valid():
    schema = ["--builtin-schema", "vendor.citation-file-format"]
    command = [sys.executable, "-m", "check_jsonschema", *schema, "--default-filetype", "yaml", str(CITATION)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


def test_its_version_is_the_changelogs_newest():
    cited = yaml.safe_load(CITATION.read_text("utf8"))
    newest = re.search(r"^## (\S+) \((\S+)\)", (ROOT / "CHANGELOG.md").read_text("utf8"), re.MULTILINE)
    assert newest
    assert (cited["version"], str(cited["date-released"])) == newest.groups()
