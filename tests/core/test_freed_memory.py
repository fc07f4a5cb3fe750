"""Importing the core allocates no tensor; the first trace frees one large block, once."""

import subprocess
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests import SAFETY_NET
from viz import ROOT
from viz.core.attention import attend
from viz.core.freed_memory import BLOCK, keep_freed_memory

IMPORT_ALL = """
import importlib, pkgutil
from pathlib import Path
from torch.utils._python_dispatch import TorchDispatchMode

class Refuse(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} on import")

with Refuse():
    names = [module.name for module in pkgutil.walk_packages(["viz/core"], "viz.core.")]
    for name in names:
        if not name.endswith("__main__"):
            importlib.import_module(name)
print(len(names))
"""


class AllocationRecorder(TorchDispatchMode):
    """Records the bytes of every empty tensor that is allocated inside the context."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.empty.memory_format:
            self.sizes.append(args[0][0])
        return function(*args, **(kwargs or {}))


def test_importing_the_core_makes_no_tensor():
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], cwd=ROOT, capture_output=True, text=True, timeout=SAFETY_NET, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) > 30


def test_only_first_trace_frees_block():
    keep_freed_memory.cache_clear()
    x = torch.eye(3)
    with AllocationRecorder() as allocations:
        attend(x, x, x)
        attend(x, x, x)
    assert allocations.sizes.count(BLOCK) == 1
