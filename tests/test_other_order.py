"""The plugin that adds up in another order: last bits move, with the shape as on other processors, and nothing else."""

import subprocess
import sys

from tests.conftest import ROOT

COMPARE = """
import torch
from torch.testing import assert_close

draw = torch.Generator().manual_seed(0)
a, b = torch.randn(40, 64, generator=draw), torch.randn(64, 48, generator=draw)
bias, counts = torch.ones(48), torch.arange(64.0).expand(40, 64)


def gradient():
    x = a.clone().requires_grad_()
    (x @ b).square().sum().backward()
    return x.grad


SUMS = {
    "product": lambda: a @ b,
    "linear": lambda: torch.nn.functional.linear(a, b.T, bias),
    "batch": lambda: torch.einsum("hqk,hkd->hqd", a.view(2, 20, 64), b.expand(2, 64, 48)),
    "vector": lambda: a @ b[:, 0],
    "mean": lambda: a.mean(-1),
    "attention": lambda: torch.nn.functional.scaled_dot_product_attention(*3 * [a.view(1, 2, 20, 64)]),
    "gradient": gradient,
}
before, whole = {name: add() for name, add in SUMS.items()}, counts @ counts.T
import tests.other_order

assert torch.equal(a @ b, before["product"]), "to import it changes nothing"
tests.other_order.pytest_configure()
for name, add in SUMS.items():
    assert_close(add(), before[name], atol=1e-3 if name == "gradient" else 2e-5, rtol=1e-5)
    assert not torch.equal(add(), before[name]), name
    assert torch.equal(add(), add()), name
assert not torch.equal(a[:7] @ b, (a @ b)[:7])
assert torch.equal(counts @ counts.T, whole) and (a.bool().sum(), torch.ones(3).mean()) == (40 * 64, 1)
"""


def test_other_order_moves_last_bits():
    """Of every kind of sum, by the shape; the same call gives the same bits, and whole numbers stay exact."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", COMPARE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
