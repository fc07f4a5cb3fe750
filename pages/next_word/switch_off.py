"""Heads switched off while the model reads: its predictions then, and the change of each token's surprise."""

from functools import partial

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from pages.next_word import compute
from pages.next_word.compute_checks import off_errors
from pages.next_word.compute_part_checks import head_score
from pages.next_word.context import NextWordContext, for_decoders, model_checks
from pages.next_word.parameters import CUT
from viz.components.bars import BarChart
from viz.core.analysis.checks import random_place
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.frame.show import show_bars, show_lines
from viz.models.capture import Head
from viz.params import Choice
from viz.text.naming import name_token

SCORE = 0.3
"""Mean weight from which a head counts as a previous-token or copying head."""
KINDS = ("previous", "induction")
CUT_BY = Choice("cut_by", among=("zero", "mean"))


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """Draw the heads' controls, the chances before and after, largest changes first, and the surprise at each token."""
    t = context.t
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        buttons = st.container(horizontal=True, gap="small", width="content")
        way = CUT_BY.segments(
            t("next_word.cut_by"),
            says=lambda way: t(f"next_word.by_{way}"),
            label_visibility="collapsed",
            width="content",
        )
    heads, mean = _select_heads(context, buttons), way == "mean"
    change = compute.changes_without(context.source, heads, mean, context.at)
    _chances(context, change)
    _say(context, change, heads)
    _surprise(context, change)
    context.say_sink()
    return [*_checks(context, heads, mean), *_score_checks(context), *model_checks(context)]


def _select_heads(context: NextWordContext, buttons: DeltaGenerator) -> frozenset[Head]:
    """Draw the controls and return the selected heads; by default those that attend to the previous token."""
    t, scores = context.t, compute.head_scores(context.source.model)
    shape = scores["previous"].shape
    # A head's number is layer times H plus head.
    heads_by_kind = {kind: (scores[kind].flatten() >= SCORE).nonzero().flatten().tolist() for kind in KINDS}
    cut = CUT.variant(default=heads_by_kind["previous"], high=shape.numel() - 1)
    numbers = cut.read()
    with buttons:
        for kind, which in heads_by_kind.items():
            label = t(f"next_word.all_{kind}", n=len(which))
            st.button(label, key=f"cut_{kind}", on_click=partial(CUT.choose, which), disabled=not which)
        st.button(t("next_word.cut_none"), key="cut_none", on_click=partial(CUT.choose, []))
    cut.multiselect(
        t("next_word.cut"),
        says=lambda i: "·".join(map(str, divmod(i, shape[1]))),
        help=t("next_word.cut_help", least=SCORE, n=compute.REPEATED),
        placeholder=t("next_word.cut_nothing"),
    )
    return frozenset(divmod(number, shape[1]) for number in numbers)


def is_predictable(ids: tuple[int, ...]) -> Tensor:
    """Return True for each token after the first that copying can predict: the previous token occurred earlier."""
    return torch.tensor([token in ids[:place] for place, token in enumerate(ids[:-1])], dtype=torch.bool)


def _say(context: NextWordContext, change: compute.Changes, heads: frozenset[Head]) -> None:
    t, at = context.t, context.at
    if not heads:
        st.text(t("next_word.cut_empty"))
        return
    word = context.words(change.words[:1].tolist())[0]
    before, after = part(float(change.before[0])), part(float(change.after[0]))
    st.text(
        t(
            "next_word.cut_found",
            n=len(heads),
            token=name_token(context.labels, at),
            word=word,
            before=before,
            after=after,
        )
    )
    for name, rows in (("all", None), ("known", is_predictable(context.tokens.ids))):
        sums = [bits if rows is None else bits[rows] for bits in (change.surprise_before, change.surprise_after)]
        if len(sums[0]):
            before, after = (number(float(bits.mean())) for bits in sums)
            say(t(f"next_word.cut_bits_{name}", before=before, after=after, n=len(sums[0])))


def _chances(context: NextWordContext, change: compute.Changes) -> None:
    t = context.t
    series = {t("next_word.before"): change.before, t("next_word.after"): change.after}
    title = t("next_word.most_changed")
    chart = BarChart(
        context.words(change.words.tolist()), series, title=title, value_title=t("next_word.chance"), top=1.0
    )
    show_bars(chart, key="next_cut", alt=t("next_word.cut_alt"))


def _surprise(context: NextWordContext, change: compute.Changes) -> None:
    t, n = context.t, len(change.surprise_before)
    if not n:
        return
    series = {t("next_word.before"): change.surprise_before, t("next_word.after"): change.surprise_after}
    y = Axis(t("next_word.surprise_bits"), grid=True, from_zero=True)
    fig = curves(range(1, n + 1), series, x=Axis(t("next_word.place")), y=y, dots=True)
    show_lines(fig, key="next_cut_bits", alt=t("next_word.cut_bits_alt"))


def _checks(context: NextWordContext, heads: frozenset[Head], mean: bool) -> list[Check]:
    error, most, layer_off = off_errors(context.source, heads, mean, context.at)
    if not heads:
        return [check("next_word.check_nothing_off", error, 1e-6)]
    return [
        check("next_word.check_off", error, 1e-4, n=len(heads)),
        check("next_word.check_most", most, 1e-4),
        check("next_word.check_w_o", layer_off, 1e-5, layer=min(layer for layer, _ in heads)),
    ]


def _score_checks(context: NextWordContext) -> list[Check]:
    """Check a random head's score of a random kind, cell by cell from the model's own map."""
    kind = KINDS[random_place(len(KINDS), context.source, "kind")]
    scores = compute.head_scores(context.source.model)[kind]
    layer, head = (random_place(n, context.source, kind, i) for i, n in enumerate(scores.shape))
    expected = head_score(context.source, kind, layer, head)
    if expected is None:
        return []
    off = abs(float(scores[layer, head]) - expected)
    return [check("next_word.check_score", off, 1e-3, layer=layer, head=head)]
