"""Two published architectures on every page: each section works, or says in a sentence why it does not."""

import pytest

from tests.published import FAILED, REFUSED, WORKS, offer, open_everywhere

LAYERS_REFUSED = {
    # Windows of 5:1, positions stretched by 8, norms of queries and keys, inside a wrapper that reads pictures too.
    "gemma-3-4b": (4, 16),
    # Experts, a norm over all heads, half of each head turned by its position.
    "MiniMax-M2": (1, 16),
}
"""The layer that is opened, and how many views are refused: those of blocks that are not known, above all."""


@pytest.mark.parametrize("name", LAYERS_REFUSED)
def test_published_architecture_fails_nowhere(open_app, monkeypatch, tmp_path, name):
    """Every view of every page is opened with a small model of a published configuration."""
    layer, n_refused = LAYERS_REFUSED[name]
    outcomes = []
    model = offer(monkeypatch, name, tmp_path / name)
    counts = open_everywhere(open_app, model, report=outcomes.append, layer=layer, head=1)
    assert not counts[FAILED], [outcome for outcome in outcomes if outcome.kind == FAILED]
    assert counts[WORKS] > 60
    assert counts[REFUSED] == n_refused, sorted((each.page, each.view, each.reason) for each in outcomes)
