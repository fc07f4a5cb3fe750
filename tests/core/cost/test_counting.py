"""The counter is torch's own, and whoever asks for the compiler it does without has it."""

import importlib.util
import subprocess
import sys

from viz import ROOT

COUNT = """
import sys
import torch
from viz.core.cost.counting import FlopCounterMode, compiler_aside
with FlopCounterMode() as counter:
    torch.ones(2, 3) @ torch.ones(3, 5)
assert counter.get_total_flops() == 2 * 2 * 3 * 5
with FlopCounterMode() as counter, compiler_aside():
    (torch.ones(2, 3, device="meta") * 3.0) @ torch.ones(3, 5, device="meta")
assert counter.get_total_flops() == 2 * 2 * 3 * 5
assert not [name for name in sys.modules if name.startswith(("triton", "torch._dynamo"))]
"""
COMPILE = """
product = torch.compile(torch.matmul, backend="eager")
with FlopCounterMode() as counter:
    product(torch.ones(2, 3), torch.ones(3, 5))
assert counter.get_total_flops() == 2 * 2 * 3 * 5
assert "torch._dynamo" in sys.modules
"""
KERNELS = """
from triton.runtime.jit import JITFunction
assert JITFunction is not type(None)
"""


def test_it_counts_without_the_compiler_and_leaves_it_to_others():
    kernels = KERNELS * (importlib.util.find_spec("triton") is not None)
    run(COUNT + COMPILE + kernels)


def test_what_is_there_already_stays():
    run("""
import sys, types
kernels = sys.modules["triton.runtime.jit"] = types.ModuleType("triton.runtime.jit")
kernels.JITFunction = type(None)
from viz.core.cost.counting import FlopCounterMode
with FlopCounterMode():
    pass
assert sys.modules["triton.runtime.jit"] is kernels
""")


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
