"""Heads swapped with another text's, one at a time: the heads that carry the difference of the two texts."""

import streamlit as st
import torch
from torch import Tensor

from pages.next_word import compute
from pages.next_word.compute_checks import swapped_alone
from pages.next_word.context import NextWordContext, for_decoders, model_checks
from pages.next_word.parameters import SWAP_WITH
from pages.next_word.presets import preset_of
from viz import limits
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.analysis.checks import random_place
from viz.frame.checks import Check, check
from viz.frame.compute.resumable import Words, run_resumable
from viz.frame.format import number
from viz.frame.show import show_matrix
from viz.frame.specs import Source

MAP = "next_swaps"


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """Draw the second text, then layers by heads: the effect of each swap on the difference of the two words."""
    second = _swap_source(context)
    if second is None:
        return []
    before = _score(context, compute.stream(context.source).states[-1, context.at][None])[0]
    theirs = _score(context, compute.stream(second).states[-1, context.at][None])[0]
    layers = _run(context, second)
    if not layers:
        return []
    effects = torch.stack([_score(context, layer) for layer in layers]) - before
    matrix = _map(context, effects, len(compute.stream(context.source).heads))
    _say(context, before, theirs)
    n_layers = len(compute.stream(context.source).heads)
    return [*_checks(context, second, matrix, before, n_layers), *model_checks(context)]


def _swap_source(context: NextWordContext) -> Source | None:
    """Return the second text; it needs as many tokens."""
    t, source = context.t, context.source
    preset = preset_of(source.model, source.text)
    default_text, most = preset.swap_with if preset else source.text, limits.CHARACTERS
    text = SWAP_WITH.text_box(t("next_word.swap_with"), default_text, draw=st.text_input, max_chars=most)
    second, mine = Source(kind="model", text=text, model=source.model), context.tokens
    n = len(mine.ids) + mine.n_excess
    if not text.strip():
        st.info(t("next_word.swap_lengths", n=n, m=0))
        return None
    theirs = compute.tokens_of(second)
    if n != (m := len(theirs.ids) + theirs.n_excess):
        st.info(t("next_word.swap_lengths", n=n, m=m))
        st.text(" ".join(theirs.labels))
        return None
    if n > limits.SWAPPED_TOKENS:
        st.info(t("next_word.swap_long", n=n, most=limits.SWAPPED_TOKENS))
        return None
    if mine.ids[: context.at + 1] == theirs.ids[: context.at + 1]:
        st.info(t("next_word.swap_later", at=context.at))
        return None
    return second


def _score(context: NextWordContext, final: Tensor) -> Tensor:
    """Return the first word's logit less the second's, for each row of last streams (n, d_model)."""
    logits = compute.word_scores(context.source, final, context.tokens_compared)
    return logits[:, 0] - logits[:, 1:].sum(-1)


def _run(context: NextWordContext, second: Source) -> list[Tensor]:
    """Compute layer after layer, the last one first: each is one cached computation shared by all users.

    Layers that were computed before a stop are drawn; the top layers cost least, so that they come first.
    """
    t, source, at = context.t, context.source, context.at
    n_layers = len(compute.stream(source).heads)
    words = Words(
        computing=lambda done: t("next_word.swapping", done=done, n=n_layers),
        stop=t("next_word.stop"),
        go_on=t("next_word.go_on"),
        stopped=lambda done: t("next_word.swap_stopped", done=done, n=n_layers),
    )
    steps = [(compute.swap_heads, (source, second, layer, at)) for layer in reversed(range(n_layers))]
    return run_resumable("swap", (source, second, at), steps, words)[::-1]


def _say(context: NextWordContext, before: Tensor, theirs: Tensor) -> None:
    t = context.t
    values = {"before": number(float(before)), "theirs": number(float(theirs))}
    st.text(t("next_word.swap_is", what=context.asked, **values))
    context.say_cap()
    context.say_sink()


def _map(context: NextWordContext, effects: Tensor, n_layers: int) -> Matrix:
    t, (rows, n_heads) = context.t, effects.shape
    first = n_layers - rows
    layer, head = divmod(int(effects.abs().argmax()), n_heads)
    matrix = Matrix(
        values=effects,
        rows=Axis([str(first + row) for row in range(rows)], t("next_word.layer")),
        columns=numbered(n_heads, t("next_word.head")),
        kind="signed",
        hover=t("next_word.hover_swap"),
        framed=(layer, head),
        low=rows > 12,
    )
    values = {"layer": first + layer, "head": head, "what": context.asked, "by": number(float(effects[layer, head]))}
    show_matrix(t, matrix, key=MAP, alt=t("next_word.swap_alt"))
    st.text(t("next_word.swap_found_part", n=rows, **values))
    return matrix


def _checks(context: NextWordContext, second: Source, matrix: Matrix, before: Tensor, n_layers: int) -> list[Check]:
    """Check the largest and a random head of the map, each by a separate run of the model."""
    effects, first = matrix.values, n_layers - len(matrix.values)
    most = divmod(int(effects.abs().argmax()), effects.shape[1])
    drawn_at_random = random_place(len(effects), context.source, second), random_place(effects.shape[1], second, "head")
    checks = []
    for row, head in (most, drawn_at_random):
        layer = first + row
        logits = swapped_alone(context.source, second, layer, head, context.at, context.tokens_compared)
        off = abs(logits[0] - sum(logits[1:]) - float(before + effects[row, head]))
        tolerance = 1e-4 * max(1.0, *map(abs, logits))
        checks.append(check("next_word.check_swap", off, tolerance, layer=layer, head=head))
    return checks
