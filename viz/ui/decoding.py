"""A text that grows token by token, and the live checks of the Masks page."""

from typing import Any

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from viz.core.attention import attend
from viz.core.checks import largest, rows_error
from viz.core.heads import share_kv
from viz.core.incremental import decode, newcomers_share, rows_when
from viz.core.masks import causal
from viz.core.sharing import attend_shared
from viz.ui.layout import Check, check
from viz.ui.mask_lessons import through
from viz.ui.masks import HUES, Board, words_of
from viz.views.masks import pack_growing
from viz.views.mount import mount


def growing(board: Board) -> None:
    """The same head while the text arrives, with the causal mask and without."""
    data = pack_growing(board.scores, labels=board.labels, hues=HUES, words=words_of(board, "growing"))
    mount("growing", key="growing", data=data)


def _corner(board: Board, n: int) -> dict[str, Any]:
    """What the model adds to its scores, for the first n tokens."""
    return {name: each[..., :n, :n] if isinstance(each, Tensor) else each for name, each in board.options.items()}


def decode_error(board: Board) -> float:
    """How far decoding with a growing cache is from the whole text under the causal mask."""
    whole = attend_shared(board.q, board.k, board.v, allowed=causal(board.n, board.n), **board.options).output
    return float((decode(board.q, board.k, board.v, **board.options) - whole).abs().max())


def earlier_rows_change(board: Board) -> float:
    """The most that any earlier row of any head changes when a token arrives, under the causal mask."""
    changes, before = [0.0], None
    for n in range(1, board.n + 1):
        q, k, v = (each[:, :n] for each in (board.q, board.k, board.v))
        now = attend_shared(q, k, v, allowed=causal(n, n), **_corner(board, n)).weights
        if before is not None:
            changes.append(float((now[:, :-1, :-1] - before).abs().max()))
        before = now
    return max(changes)


def newcomers_error(board: Board) -> float:
    """Without a mask: how far what the last newcomer takes is from what the earlier rows lose."""
    before, after = rows_when(board.scores, board.n - 1), rows_when(board.scores, board.n)[:-1]
    lost = (before - after[:, :-1]).sum(-1)
    return float((newcomers_share(board.scores)[:-1, -1] - lost).abs().max())


def checks(board: Board) -> list[Check]:
    """What must hold of all that the page shows."""
    n_heads = len(board.q)
    trace = attend(
        board.q, share_kv(board.k, n_heads), share_kv(board.v, n_heads), allowed=board.allowed, **board.options
    )
    added = trace.masked - trace.scaled  # the mask, and what the model adds to its scores
    torchs = scaled_dot_product_attention(board.q, board.k, board.v, added, scale=trace.scale, enable_gqa=True)
    found = [
        check("truth.rows", rows_error(trace.weights, trace.masked), 1e-5),
        check("masks.check_sdpa", (torchs - trace.output).abs().max(), 1e-5 * largest(trace.output)),
    ]
    if n := int((~board.allowed).sum()):
        found.append(check("masks.check_zero", trace.weights[:, ~board.allowed].abs().sum(), 0.0, n=n))
    if board.v.shape[-1] == board.k.shape[-1] and (apart := through(board, board.allowed)):
        found.append(check("masks.check_polarity", max(apart), 1e-5 * largest(trace.output)))
    tolerance = 1e-5 * largest(board.v)
    found.append(check("masks.check_decode", decode_error(board), tolerance))
    if board.n > 1:  # one token alone has no earlier row
        found += [
            check("masks.check_unchanged", earlier_rows_change(board), 1e-6),
            check("masks.check_newcomer", newcomers_error(board), 1e-5),
        ]
    return found
