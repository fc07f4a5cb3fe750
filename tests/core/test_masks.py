"""Masks: which cells are open, by hand and by a loop over pairs."""

import pytest
import torch

from viz.core.masks import blocks, causal, chunks, combine, dilated, look_back, padding, prefix, window

SIZES = [(5, 5), (3, 7), (7, 3), (1, 11), (1, 1)]


def by_pairs(n_queries, n_keys, rule):
    """A mask from a rule on the pair (query's key position, key position), one pair at a time."""
    last = n_keys - n_queries  # the last query stands beside the last key
    return torch.tensor([[rule(i + last, j) for j in range(n_keys)] for i in range(n_queries)])


@pytest.mark.parametrize(("n_queries", "n_keys"), SIZES)
def test_causal(n_queries, n_keys):
    mask = causal(n_queries, n_keys)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, by_pairs(n_queries, n_keys, lambda i, j: j <= i))


@pytest.mark.parametrize(("n_queries", "n_keys"), SIZES)
@pytest.mark.parametrize("width", [0, 2, 20])
def test_window(n_queries, n_keys, width):
    assert torch.equal(window(n_queries, n_keys, width), by_pairs(n_queries, n_keys, lambda i, j: abs(i - j) <= width))


@pytest.mark.parametrize(("n_queries", "n_keys"), SIZES)
@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_look_back_counts_the_query(n_queries, n_keys, size):
    """A window of w tokens holds the query's own and w - 1 before it; one as wide as the text is causal."""
    mask = look_back(n_queries, n_keys, size)
    assert torch.equal(mask, by_pairs(n_queries, n_keys, lambda i, j: 0 <= i - j < size))
    assert torch.equal(look_back(n_queries, n_keys, n_keys), causal(n_queries, n_keys))


@pytest.mark.parametrize(("n_queries", "n_keys"), SIZES)
@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_chunks_close_at_borders(n_queries, n_keys, size):
    """A query sees its own chunk up to itself; one chunk for the whole text is causal."""
    mask = chunks(n_queries, n_keys, size)
    assert torch.equal(mask, by_pairs(n_queries, n_keys, lambda i, j: i // size == j // size and j <= i))
    assert torch.equal(chunks(n_queries, n_keys, n_keys), causal(n_queries, n_keys))


@pytest.mark.parametrize(("n_queries", "n_keys"), SIZES)
def test_prefix(n_queries, n_keys):
    for n_prefix in (0, 1, n_keys):
        expected = by_pairs(n_queries, n_keys, lambda i, j, n=n_prefix: j <= i or j < n)
        assert torch.equal(prefix(n_queries, n_keys, n_prefix), expected)
    assert torch.equal(prefix(n_queries, n_keys, 0), causal(n_queries, n_keys))
    assert prefix(n_queries, n_keys, n_keys).all()


def test_padding():
    mask = padding([3, 0, 7], 7)
    assert mask.shape == (3, 1, 1, 7)
    assert mask.sum(-1).flatten().tolist() == [3, 0, 7]
    assert mask[0, 0, 0].tolist() == [True] * 3 + [False] * 4
    # As many sequences as keys: with the axes in place, it still acts on the keys.
    square = padding([1, 2, 3], 3).expand(3, 1, 3, 3)
    assert square[1, 0].tolist() == [[True, True, False]] * 3


@pytest.mark.parametrize(("n_queries", "n_keys"), SIZES)
def test_blocks(n_queries, n_keys):
    """From causal, blocks of one, to all open; blocks are counted from the first key."""
    for size in (1, 2, 3, n_keys):
        expected = by_pairs(n_queries, n_keys, lambda i, j, size=size: any(m <= i for m in range(j - j % size, j + 1)))
        assert torch.equal(blocks(n_queries, n_keys, size), expected)
    assert torch.equal(blocks(n_queries, n_keys, 1), causal(n_queries, n_keys))
    assert blocks(n_keys, n_keys, n_keys).all()


@pytest.mark.parametrize(("n_queries", "n_keys"), SIZES)
@pytest.mark.parametrize(("width", "step"), [(0, 3), (2, 1), (2, 3), (1, 20)])
def test_dilated(n_queries, n_keys, width, step):
    places = {step * i for i in range(-width, width + 1)}
    mask = dilated(n_queries, n_keys, width, step)
    assert torch.equal(mask, by_pairs(n_queries, n_keys, lambda i, j: j - i in places))
    assert torch.equal(dilated(n_queries, n_keys, width, 1), window(n_queries, n_keys, width))


def test_combine_is_and():
    a, b = causal(5, 7), window(5, 7, 2)
    assert torch.equal(combine(a, b), a & b)
    assert torch.equal(combine(a, b, padding([4], 7)), (a & b & (torch.arange(7) < 4))[None, None])
    assert torch.equal(combine(None, a, None), a)
    assert combine(None, None) is None
    assert combine() is None


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: causal(0, 3), "n_queries=0 must be at least 1"),
        (lambda: window(3, 0, 1), "n_keys=0 must be at least 1"),
        (lambda: window(3, 3, -1), "width=-1 must be at least 0"),
        (lambda: look_back(3, 3, 0), "size=0 must be at least 1"),
        (lambda: chunks(3, 3, 0), "size=0 must be at least 1"),
        (lambda: blocks(3, 3, 0), "size=0 must be at least 1"),
        (lambda: dilated(3, 3, -1, 2), "width=-2 must be at least 0"),
        (lambda: dilated(3, 3, 1, 0), "step=0 must be at least 1"),
        (lambda: prefix(3, 5, 6), "n_prefix=6 is not between 0 and n_keys=5"),
        (lambda: prefix(3, 5, -1), "n_prefix=-1 is not between 0 and n_keys=5"),
        (lambda: padding([2, 8], 7), "length=8 is not between 0 and n_keys=7"),
        (lambda: padding([-1], 7), "length=-1 is not between 0 and n_keys=7"),
    ],
)
def test_errors_name_values_and_rule(make, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        make()
