"""transformers is imported by one thread at a time."""

import subprocess
import sys

import pytest

from viz import ROOT

INSTALL = """
import gc, sys

class Watch:
    missed = []

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] == "transformers" or name.startswith("torch._dynamo"):
            cls.missed += [name] * gc.isenabled()

from viz.models.attention_interface import install
sys.meta_path.insert(0, Watch)
install()
assert "transformers.modeling_utils" in sys.modules, "the test sees the import"
assert Watch.missed == [], Watch.missed
"""
"""``importing()`` switches off the garbage collector: a module that is sought while it is on is sought outside."""


@pytest.mark.long
def test_install_imports_transformers_inside_the_lock():
    """Two threads that import ``transformers`` or ``torch._dynamo`` at once may each get half of it."""
    command = [sys.executable, "-c", INSTALL]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
