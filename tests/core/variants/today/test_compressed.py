"""Entries of blocks: by hand, by loops, which query looks at which, and what turning back is for."""

import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.masks import causal
from viz.core.variants.today.compressed import attend_to_entries, compress, compressed_mask, turn_last

HEADS, T, D, M, FRESH = 3, 11, 5, 3, 2


def test_entry_by_hand():
    """Shares of 1/4 and 3/4 of the number whose scores are ln 1 and ln 3, halves of the other; a bias may undo them."""
    c, z = torch.tensor([[4.0, 4.0], [8.0, 8.0]]), torch.tensor([[1.0, 1.0], [3.0, 1.0]]).log()
    assert_close(compress((c, z, torch.zeros(2, 2))), torch.tensor([[7.0, 6.0]]))
    assert_close(compress((c, z, -z)), torch.tensor([[6.0, 6.0]]))


def test_entries_by_loops():
    """Number by number: one softmax over the block's words, and over those of the block before by their own series."""
    series, earlier = ((draw(T, D, seed=i), draw(T, D, seed=i + 1), draw(M, D, seed=i + 2)) for i in (0, 3))
    for overlaps in (False, True):
        entries = compress(series, earlier=earlier if overlaps else None)
        assert entries.shape == (T // M, D)
        for e in range(T // M):
            terms = [(series, e * M + place, place) for place in range(M)]
            if overlaps and e:
                terms += [(earlier, (e - 1) * M + place, place) for place in range(M)]
            shares = torch.stack([z[t] + b[place] for (_, z, b), t, place in terms]).exp()
            want = (shares * torch.stack([c[t] for (c, *_), t, _ in terms])).sum(0) / shares.sum(0)
            assert_close(entries[e], want, atol=1e-12, rtol=0)


def test_mask_opens_blocks_at_last_word():
    """Behind a causal mask: floor((i + 1) / m) > e; words of the last block, which is not full, one by one alone."""
    mask = compressed_mask(causal(T, T), M, FRESH)
    for i in range(T):
        entries, words = [(i + 1) // M > e for e in range(T // M)], [i - j in range(FRESH) for j in range(T)]
        assert mask[i].tolist() == entries + words


def test_turned_back_is_relative():
    """A word that looks at itself alone gets its value as it was; read from place 7 on, a text gives the same."""
    q, words = draw(HEADS, T, D), draw(T, D, seed=1)
    entries, mask = compress((words, 0 * words, words.new_zeros(M, D))), compressed_mask(causal(T, T), M, FRESH)

    def read(start, allowed):
        places = torch.arange(T) + start
        rows = (turn_last(x, 4, at) for x, at in ((q, places), (entries, places[: T // M * M : M]), (words, places)))
        trace = attend_to_entries(*rows, allowed, rotary_dim=4)
        # It turns back by places from 0 on.
        return trace.weights, turn_last(trace.output, 4, torch.full((T,), -start))

    itself = compressed_mask(torch.eye(T, dtype=torch.bool), M, FRESH)
    assert_close(read(0, itself)[1], words.expand(HEADS, -1, -1), atol=1e-12, rtol=0)
    assert_close(read(0, mask), read(7, mask), atol=1e-12, rtol=0)
