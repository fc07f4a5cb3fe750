"""Heads swapped with another text's, one at a time: which of them carry what the two texts differ in."""

import streamlit as st
import torch
from torch import Tensor

from pages.next_word import compute
from pages.next_word.compute_checks import swapped_alone
from pages.next_word.context import NextWordContext, for_decoders, model_checks
from pages.next_word.parameters import SWAP_WITH
from pages.next_word.presets import preset_of
from viz import limits
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.random_place import random_place
from viz.frame.checks import Check, check
from viz.frame.compute.pieces import Words, in_pieces
from viz.frame.format import number
from viz.frame.show import show_bars, show_matrix
from viz.frame.specs import Source

MAP, MOST = "next_swaps", 12


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """The second text, then layers by heads: what each swap does to the difference of the two words."""
    other = _other(context)
    if other is None:
        return []
    before = _score(context, compute.stream(context.source).states[-1, context.at][None])[0]
    theirs = _score(context, compute.stream(other).states[-1, context.at][None])[0]
    layers = _run(context, other)
    if not layers:
        return []
    moved = torch.stack([_score(context, layer) for layer in layers]) - before
    drawn = _map(context, moved, len(compute.stream(context.source).heads))
    _say(context, before, theirs)
    _largest(context, moved)
    n_layers = len(compute.stream(context.source).heads)
    return [*_checks(context, other, drawn, before, n_layers), *model_checks(context)]


def _other(context: NextWordContext) -> Source | None:
    """The text whose heads are lent; it needs as many tokens."""
    t, source = context.t, context.source
    preset = preset_of(source.model, source.text)
    usual, most = preset.swap_with if preset else source.text, limits.CHARACTERS
    text = SWAP_WITH.text_box(t("next_word.swap_with"), usual, draw=st.text_input, max_chars=most)
    if not text.strip():
        st.info(t("next_word.swap_empty"))
        return None
    other = Source(kind="model", text=text, model=source.model)
    mine, theirs = context.tokens, compute.tokens_of(other)
    n, m = (len(tokens.ids) + tokens.dropped for tokens in (mine, theirs))
    if n != m:
        st.info(t("next_word.swap_lengths", n=n, m=m))
        st.text(" ".join(theirs.labels))
        return None
    if n > limits.SWAPPED_TOKENS:
        st.info(t("next_word.swap_long", n=n, most=limits.SWAPPED_TOKENS))
        return None
    if mine.ids == theirs.ids:
        st.info(t("next_word.swap_same"))
        return None
    return other


def _score(context: NextWordContext, final: Tensor) -> Tensor:
    """The first word's logit less the second's, for each row of last streams (n, d_model)."""
    logits = compute.word_scores(context.source, final, context.tokens_compared)
    return logits[:, 0] - logits[:, 1:].sum(-1)


def _run(context: NextWordContext, other: Source) -> list[Tensor]:
    """A layer after the other, the last one first: each is one computation, kept for all who ask for the same.

    What was computed before a stop is shown; the top layers cost least, so that they come first.
    """
    t, source, at = context.t, context.source, context.at
    n_layers = len(compute.stream(source).heads)
    words = Words(
        computing=lambda done: t("next_word.swapping", done=done, n=n_layers),
        stop=t("next_word.stop"),
        go_on=t("next_word.go_on"),
        stopped=lambda done: t("next_word.swap_stopped", done=done, n=n_layers),
    )
    steps = [(compute.swapped, (source, other, layer, at)) for layer in reversed(range(n_layers))]
    return in_pieces("swap", (source, other, at), steps, words)[::-1]


def _say(context: NextWordContext, before: Tensor, theirs: Tensor) -> None:
    t = context.t
    values = {"before": number(float(before)), "theirs": number(float(theirs))}
    st.text(t("next_word.swap_is", what=context.asked, **values))
    context.say_cap()


def _map(context: NextWordContext, moved: Tensor, n_layers: int) -> Matrix:
    t, (rows, n_heads) = context.t, moved.shape
    first = n_layers - rows
    layer, head = divmod(int(moved.abs().argmax()), n_heads)
    drawn = Matrix(
        values=moved,
        rows=Axis([str(first + row) for row in range(rows)], t("next_word.layer")),
        columns=numbered(n_heads, t("next_word.head")),
        kind="signed",
        hover=t("next_word.hover_swap"),
        framed=(layer, head),
        low=rows > 12,
    )
    best = number(float(moved[layer, head]))
    show_matrix(t, drawn, key=MAP, alt=t("next_word.swap_alt"))
    st.text(t("next_word.swap_found", layer=first + layer, head=head, n=best, what=context.asked))
    return drawn


def _largest(context: NextWordContext, moved: Tensor) -> None:
    n_heads = moved.shape[1]
    n_layers = len(compute.stream(context.source).heads)
    order = moved.abs().flatten().argsort(descending=True)[:MOST]
    places = [divmod(int(i), n_heads) for i in order]
    names = [f"{n_layers - len(moved) + layer}·{head}" for layer, head in places]
    title, value = context.t("next_word.swap_largest"), context.t("next_word.swap_moves")
    drawn = BarChart(names, {value: moved.flatten()[order]}, title=title, value_title=value)
    show_bars(drawn, key="next_swap_bars", alt=context.t("next_word.swap_bars_alt"))


def _checks(context: NextWordContext, other: Source, drawn: Matrix, before: Tensor, n_layers: int) -> list[Check]:
    """Two heads of the map once more, each in a whole run of its own: the one that moves most, and a random one."""
    moved, first = drawn.values, n_layers - len(drawn.values)
    most = divmod(int(moved.abs().argmax()), moved.shape[1])
    drawn_at_random = random_place(len(moved), context.source, other), random_place(moved.shape[1], other, "head")
    found = []
    for key, (row, head) in (("check_swap", most), ("check_swap_any", drawn_at_random)):
        layer = first + row
        logits = swapped_alone(context.source, other, layer, head, context.at, context.tokens_compared)
        off = abs(logits[0] - sum(logits[1:]) - float(before + moved[row, head]))
        tolerance = 1e-4 * max(1.0, *map(abs, logits))
        found.append(check(f"next_word.{key}", off, tolerance, layer=layer, head=head))
    return found
