"""Everything that counting needs is imported with the counter."""

import subprocess
import sys

import pytest

from viz import ROOT

COUNT = """
import sys
import torch
from viz.core.cost.counting import FlopCounterMode
imported = set(sys.modules)
with FlopCounterMode(display=False) as counter:
    torch.nn.LSTM(3, 5, device="meta")(torch.ones(2, 3, device="meta"))
    torch.nn.MultiheadAttention(6, 2, device="meta")
    (torch.ones(2, 3, device="meta") * 3.0) @ torch.ones(3, 5)
assert counter.get_total_flops() >= 2 * 2 * 3 * 5
late = {name for name in set(sys.modules) - imported if name.startswith(("torch._dynamo", "torch._inductor"))}
assert not late, late
"""


@pytest.mark.long
def test_counting_imports_no_compiler_later():
    """Pages are imported by one thread at a time; what a run imports, another thread may be importing too."""
    command = [sys.executable, "-c", COUNT]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
