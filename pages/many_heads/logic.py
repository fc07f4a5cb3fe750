"""Search for a head for logic: count the pairs in which a head follows the one word that changes what "it" means."""

import torch
from torch import Tensor

from pages.many_heads import compute
from pages.many_heads.context import ManyHeadsContext
from viz.components.bars import BarChart
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.params import Flag

LOGIC = Flag("logic")


def draw_logic(context: ManyHeadsContext) -> list[Check]:
    """Run 20 sentences through the model on request, and draw the counts."""
    t, source = context.t, context.scene.choice.source
    if not LOGIC.toggle(t("many_heads.logic.run"), help=t("many_heads.logic.help")):
        return []
    if source.kind != "model":
        say(t("many_heads.logic.seeded"))
        return []
    looks = compute.looks_of_it(source.model)
    if not len(looks):
        say(t("many_heads.logic.unread"))
        return []
    turn_flags = turns(looks)
    _show(context, turn_flags)
    wrong = int((turn_flags != turns(compute.looks_of_it_by_torch(source.model))).sum())
    return [check("many_heads.logic.check", wrong, 0.0, n=len(looks))]


def turns(looks: Tensor) -> Tensor:
    """Return True where a head prefers the first noun with the first word, the second with the second, (pairs, L, H).

    Args:
        looks: (pairs, words, L, H, nouns).
    """
    prefers_first = looks[..., 0] > looks[..., 1]
    return prefers_first[:, 0] & (looks[..., 1] > looks[..., 0])[:, 1]


def _show(context: ManyHeadsContext, turn_flags: Tensor) -> None:
    t, n = context.t, len(turn_flags)
    counts = turn_flags.sum(0)
    heads = torch.bincount(counts.flatten(), minlength=n + 1)
    summary = t(
        "many_heads.logic.found",
        n=n, heads=counts.numel(), first=int(turn_flags[0].sum()), all=int(heads[n]),
        best=int(counts.max()), mean=f"{float(counts.float().mean()):.1f}",
    )  # fmt: skip
    chart = BarChart(
        [str(i) for i in range(n + 1)],
        {t("many_heads.logic.heads"): heads.float()},
        title=t("many_heads.logic.pairs", n=n),
        value_title=t("many_heads.logic.heads"),
        height=200,
    )
    show_bars(chart, key="logic_turns", alt=summary)
    say(summary)
