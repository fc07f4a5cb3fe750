"""Published architectures on every page: each section works, or says in a sentence why it does not."""

import pytest

from tests.checkpoints import FAMILIES, MORE
from tools.published import FAILED, REFUSED, WORKS, offer, open_everywhere
from viz.models.attention_interface import RowMask

LAYERS_REFUSED = {
    # Windows of 5:1, positions stretched by 8, norms of queries and keys, inside a wrapper that reads pictures too.
    "gemma-3-4b": (4, 4),
    # Experts, a norm over all heads, half of each head turned by its position.
    "MiniMax-M2": (1, 4),
    # Keys and values out of a short vector, wider than the values: pages on W_K and W_V say so.
    "DeepSeek-V3": (3, 34),
    # Normed values, keys and values of an earlier layer: pages that reckon with V = X W_V say so.
    "gemma-4-E2B": (5, 40),
    # Two layers of attention in each block, which read short vectors.
    "LongCat-Flash": (3, 37),
}
"""The layer that is opened, and how many views are refused: those of blocks that are not known, above all."""


@pytest.mark.long
@pytest.mark.parametrize("name", LAYERS_REFUSED)
def test_published_architecture_fails_nowhere(open_app, monkeypatch, tmp_path, name):
    """Every view of every page is opened with a small model of a published configuration."""
    layer, n_refused = LAYERS_REFUSED[name]
    outcomes = []
    model = offer(monkeypatch, name, tmp_path / name)
    counts = open_everywhere(open_app, model, report=outcomes.append, layer=layer, head=1)
    assert not counts[FAILED], [outcome for outcome in outcomes if outcome.kind == FAILED]
    assert counts[WORKS] > 55
    assert counts[REFUSED] == n_refused, sorted((element.page, element.view, element.reason) for element in outcomes)


@pytest.mark.long
@pytest.mark.parametrize("family", sorted({**FAMILIES, **MORE}))
def test_listed_family_fails_nowhere(open_app, monkeypatch, tmp_path, family):
    """Every family of FAMILIES.md that is shown, on every view: a view works, or says in a sentence why it does not."""
    outcomes = []
    model = offer(monkeypatch, family, tmp_path / family)
    open_everywhere(open_app, model, report=outcomes.append, layer=1)
    assert not [outcome for outcome in outcomes if outcome.kind == FAILED]


def test_long_text_wrong_window_fails_checks(open_app, monkeypatch, tmp_path):
    """A mask that leaves a window's first key out is noticed by the checks of the page, not by the reader."""
    right = RowMask.__call__

    def narrower(mask, at, n_keys):
        rows = right(mask, at, n_keys)
        return rows & ((rows.cumsum(1) > 1) | (rows.sum(1, keepdim=True) < 5))

    monkeypatch.setattr(RowMask, "__call__", narrower)
    model = offer(monkeypatch, "gemma-3-1b", tmp_path / "gemma-3-1b")
    outcomes = []
    open_everywhere(open_app, model, ("long_text",), report=outcomes.append, layer=1, head=1)
    assert "map" in {element.view for element in outcomes if element.kind == FAILED}
