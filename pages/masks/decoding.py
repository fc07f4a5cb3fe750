"""Decoding token by token: what a cache of keys and values can reuse."""

from pages.masks.checks import causal_by_torch
from pages.masks.context import MasksContext
from pages.masks.pack import pack_growing
from viz.components.view import View
from viz.core.analysis.checks import heads_off, largest, worst
from viz.core.attention import options_of_first
from viz.core.masks import causal
from viz.core.variants.decoding import decode, rows_at_length, weight_taken_by_new_token
from viz.core.variants.kv_sharing import attend_shared
from viz.frame.checks import Check, check
from viz.frame.modes import say

GROWING = View("masks/growing", words="masks.growing.", colours=True)


def earlier_rows_change(context: MasksContext) -> float:
    """Return the largest change of an earlier row of any head when a token is appended under the causal mask."""
    changes, before = [0.0], None
    for n in range(1, context.n + 1):
        q, k, v = (heads[:, :n] for heads in (context.q, context.k, context.v))
        now = attend_shared(q, k, v, allowed=causal(n, n), **options_of_first(context.options, n)).weights
        if before is not None:
            changes.append(float((now[:, :-1, :-1] - before).abs().max()))
        before = now
    return worst(changes)


def new_token_error(context: MasksContext) -> float:
    """Return the difference, without a mask, between the new token's weight and the loss of the earlier rows."""
    before, after = rows_at_length(context.scores, context.n - 1), rows_at_length(context.scores, context.n)[:-1]
    lost = (before - after[:, :-1]).sum(-1)
    return float((weight_taken_by_new_token(context.scores)[:-1, -1] - lost).abs().max())


def draw(context: MasksContext) -> list[Check]:
    """Draw the head while the text grows, with the causal mask and without."""
    GROWING.mount(key="growing", data=pack_growing(context.scores, labels=context.labels))
    say(context.t("masks.decoding.shows"))
    q, k, v, options = context.q, context.k, context.v, context.options
    off = heads_off(decode(q, k, v, **options), q, k, v, allowed=causal_by_torch(context.n), **options)
    checks = [check("masks.check_decode", *off)]
    # A single token has no earlier row.
    if context.n > 1:
        checks += [
            check("masks.check_unchanged", earlier_rows_change(context), 1e-6 * largest(context.scores)),
            check("masks.check_newcomer", new_token_error(context), 1e-5),
        ]
    return checks
