"""Results of a page are freed with it: Python's collector does not know a tensor's bytes, and comes too late."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from torch import Tensor

from pages import PAGES
from viz.frame import compute

MINE = "An okapi counts seven quiet zebras."


@contextmanager
def collected_by_nobody() -> Iterator[list[Tensor]]:
    """Afterwards the list holds the tensors that only a collection would have found."""
    tensors: list[Tensor] = []
    gc.collect()
    gc.disable()
    try:
        yield tensors
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        tensors += [tensor for tensor in gc.garbage if isinstance(tensor, Tensor)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_reference_cycle_is_found():
    import torch

    with collected_by_nobody() as tensors:
        ring: list[object] = [torch.zeros(3)]
        ring.append(ring)
        del ring
    assert len(tensors) == 1


@pytest.mark.fast("heads", "block")
@pytest.mark.parametrize("page", PAGES)
def test_page_leaves_no_tensor_in_cycles(open_app, monkeypatch, page):
    """After a page is left, no tensor waits for the garbage collector."""
    monkeypatch.setattr(compute.results(), "most_bytes", 0)
    with collected_by_nobody() as tensors:
        app = open_app(page, section="all", text=MINE)
        assert not app.error and not app.exception
    assert not tensors, {tuple(tensor.shape) for tensor in tensors}
