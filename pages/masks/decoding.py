"""A text that grows token by token: what a cache of keys and values may keep, and why."""

from typing import Any

from torch import Tensor

from pages.masks.checks import no_later_key
from pages.masks.context import MasksContext
from pages.masks.pack import pack_growing
from viz.components.view import View
from viz.core.analysis.checks import heads_off, largest, worst
from viz.core.masks import causal
from viz.core.variants.decoding import decode, newcomers_share, rows_when
from viz.core.variants.kv_sharing import attend_shared
from viz.frame.checks import Check, check
from viz.frame.modes import say

GROWING = View("masks/growing", words="masks.growing.", colours=True)


def _corner(context: MasksContext, n: int) -> dict[str, Any]:
    """What the model adds to its scores, for the first n tokens."""
    return {
        name: option[..., :n, :n] if isinstance(option, Tensor) else option for name, option in context.options.items()
    }


def decode_off(context: MasksContext) -> tuple[float, float]:
    """How far decoding with a growing cache is from torch's own attention on the whole text, nobody looking ahead; and
    how far it may be.
    """
    q, k, v, options = context.q, context.k, context.v, context.options
    return heads_off(decode(q, k, v, **options), q, k, v, allowed=no_later_key(context.n), **options)


def earlier_rows_change(context: MasksContext) -> float:
    """The most that any earlier row of any head changes when a token arrives, under the causal mask."""
    changes, before = [0.0], None
    for n in range(1, context.n + 1):
        q, k, v = (heads[:, :n] for heads in (context.q, context.k, context.v))
        now = attend_shared(q, k, v, allowed=causal(n, n), **_corner(context, n)).weights
        if before is not None:
            changes.append(float((now[:, :-1, :-1] - before).abs().max()))
        before = now
    return worst(changes)


def newcomers_error(context: MasksContext) -> float:
    """Without a mask: how far what the last newcomer takes is from what the earlier rows lose."""
    before, after = rows_when(context.scores, context.n - 1), rows_when(context.scores, context.n)[:-1]
    lost = (before - after[:, :-1]).sum(-1)
    return float((newcomers_share(context.scores)[:-1, -1] - lost).abs().max())


def draw(context: MasksContext) -> list[Check]:
    """The same head while the text arrives, with the causal mask and without."""
    GROWING.mount(key="growing", data=pack_growing(context.scores, labels=context.labels))
    say(context.t("masks.decoding.shows"))
    found = [check("masks.check_decode", *decode_off(context))]
    if context.n > 1:  # one token alone has no earlier row
        found += [
            check("masks.check_unchanged", earlier_rows_change(context), 1e-6 * largest(context.scores)),
            check("masks.check_newcomer", newcomers_error(context), 1e-5),
        ]
    return found
