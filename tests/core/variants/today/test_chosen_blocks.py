"""Blocks of keys, chosen by their best key or by their mean: by hand, by loops, and which words always stay."""

import pytest
import torch

from tests.core.tensors import draw
from viz.core.masks import causal, look_back
from viz.core.variants.today.chosen_blocks import block_mask, pooled_mask

HEADS, T, D, SIZE = 2, 11, 5, 3
MASKS = {"none": torch.ones(T, T).bool(), "causal": causal(T, T), "window": look_back(T, T, 7)}


def test_best_key_speaks_for_its_block():
    """Row 3 takes its own block, the second, and the one with the 9; a 10 that it may not see does not count."""
    scores = torch.tensor([[9.0, 0.0, 1.0, 1.0, 2.0, 10.0]]).expand(6, -1)
    assert block_mask(scores, 2, 2, allowed=causal(6, 6))[3].int().tolist() == [1, 1, 1, 1, 0, 0]
    assert block_mask(scores, 1, 2, allowed=causal(6, 6))[3].int().tolist() == [0, 0, 1, 1, 0, 0]


def test_full_block_drops_own_word():
    """If the words seen fill their blocks, the best block alone is left; a word after it stays beside that."""
    q, k = torch.ones(1, 5, 1), torch.tensor([[4.0], [0.0], [1.0], [2.0], [0.0]])
    rows = pooled_mask(q, k, 1, 2, allowed=causal(5, 5)).int().tolist()
    assert rows == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 0, 0, 1]]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("n_blocks", [1, 2, 4])
def test_blocks_by_loops(mask, n_blocks):
    check_blocks(mask, n_blocks)


def check_blocks(mask="window", n_blocks=2):
    """Row by row, block by block; a row of the window counts its pooled blocks from where it begins."""
    q, k, allowed = draw(HEADS, T, D), draw(T, D, seed=1), MASKS[mask]
    best, pooled = (
        block_mask(q @ k.T, n_blocks, SIZE, allowed=allowed),
        pooled_mask(q, k, n_blocks, SIZE, allowed=allowed),
    )
    for i in range(T):
        keys = [j for j in range(T) if allowed[i, j]]
        for h in range(HEADS):
            best_keys = {
                m: max(float(q[h, i] @ k[j]) for j in keys if j // SIZE == m) for m in {j // SIZE for j in keys}
            }
            top = sorted(best_keys, key=lambda m: (m != i // SIZE, -best_keys[m]))[:n_blocks]
            assert best[h, i].nonzero().flatten().tolist() == [j for j in keys if j // SIZE in top]
        full = [keys[m : m + SIZE] for m in range(0, len(keys) - SIZE + 1, SIZE)]
        likes = [sum(max(0.0, float(q[h, i] @ k[words].mean(0))) for h in range(HEADS)) for words in full]
        top = sorted(range(len(full)), key=lambda m: -likes[m])[:n_blocks]
        want = sorted([*(j for m in top for j in full[m]), *keys[len(full) * SIZE :]])
        assert pooled[i].nonzero().flatten().tolist() == want


@pytest.mark.parametrize("mask", MASKS)
def test_all_blocks_leave_the_mask(mask):
    """As many blocks as there are: what was open stays open, and nothing else."""
    q, k, allowed = draw(HEADS, T, D), draw(T, D, seed=1), MASKS[mask]
    assert torch.equal(block_mask((q @ k.T)[0], 4, SIZE, allowed=allowed), allowed)
    assert torch.equal(pooled_mask(q, k, 3, SIZE, allowed=allowed), allowed)
    assert pooled_mask(q[:, :2], k[:2], 1, SIZE).all(), "no block is full"


def test_row_that_sees_nothing_chooses_nothing():
    q, k, allowed = draw(HEADS, T, D), draw(T, D, seed=1), causal(T, T) & (torch.arange(T)[:, None] > 0)
    assert not block_mask(q @ k.T, 2, SIZE, allowed=allowed)[:, 0].any()
    assert not pooled_mask(q, k, 2, SIZE, allowed=allowed)[0].any()
