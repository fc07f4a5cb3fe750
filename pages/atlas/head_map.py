"""Layers by heads, coloured by one score; the heads that earn a label are marked, and one of them is opened."""

import math

import streamlit as st

from pages.atlas.checks import head_checks
from pages.atlas.context import AtlasContext, choose_head, format_score
from pages.atlas.head import draw_head, highest, mean_said, say_even_on_text
from pages.atlas.parameters import score
from pages.atlas.rule_checks import rule_checks
from viz.components.matrix import Matrix, numbered
from viz.frame.checks import Check
from viz.frame.modes import say
from viz.frame.show import show_matrix

LABEL = r"\bar x - t\,\frac{s}{\sqrt n} \;>\; \max(\text{even},\ \text{random},\ \text{least})"
MAP, MARK = "atlas_map", "•"
SCORE = score("atlas_score", "previous")
"""The score the page opens on."""
MAX_HEADS_IN_SENTENCE = 8
"""The most labelled heads named in the sentence."""
NUMBERED = 80
"""Maps of so many heads have their numbers in the cells."""


def draw(context: AtlasContext | None) -> list[Check]:
    """Render the score, the map, its findings and the selected head."""
    if context is None:
        return []
    picture = st.container()
    name = context.choose_score(SCORE)
    layer, head = context.chosen(name)
    st.caption(context.t(f"atlas.d_{name}"))
    with picture:
        _map(context, name, (layer, head))
    context.say_which()
    _say_labelled_heads(context, name)
    draw_head(context, "map", name, (layer, head))
    return [*head_checks(context, name, layer, head), *rule_checks(context, name, layer, head)]


def _map(context: AtlasContext, name: str, selected: tuple[int, int]) -> None:
    t, score = context.t, context.score(name)
    layers, heads = context.atlas.size
    is_dotted = layers * heads > NUMBERED
    earned = score.labelled.nonzero().tolist()
    numbers = zip(score.mean.tolist(), score.half.tolist(), strict=True)
    hover = [
        [
            t("atlas.hover", layer=layer, head=head, value=mean_said(t, name, mean, half), score=context.title(name))
            for head, (mean, half) in enumerate(zip(means, halves, strict=True))
        ]
        for layer, (means, halves) in enumerate(numbers)
    ]
    matrix = Matrix(
        values=score.mean,
        rows=numbered(layers, t("atlas.layer")),
        columns=numbered(heads, t("atlas.head")),
        kind="signed" if name == "removal" else "sizes",
        numbers=not is_dotted,
        hover=hover,
        framed=selected,
        letters={(int(row), int(column)): MARK * is_dotted for row, column in earned},
        twice=True,
        low=layers > 12,
    )
    show_matrix(t, matrix, key=MAP, alt=t("atlas.map_alt", score=context.title(name)), on_choose=choose_head)


def _say_labelled_heads(context: AtlasContext, name: str) -> None:
    """Describe how many heads earn the label of this score, and name them."""
    t, score = context.t, context.score(name)
    layers, heads = context.atlas.size
    if math.isnan(score.hurdle):
        say(t("atlas.found_none_asked", score=context.title(name)))
        return
    order = score.mean.nan_to_num(-1).flatten().argsort(descending=True).tolist()
    earned = [place for i in order if score.labelled[place := divmod(i, heads)]]
    names = [f"{layer}·{head}" for layer, head in earned[:MAX_HEADS_IN_SENTENCE]]
    names += ["…"] * (len(earned) > MAX_HEADS_IN_SENTENCE)
    values = {"n": len(earned), "all": layers * heads, "label": context.title(name), "named": ", ".join(names) or "–"}
    say(t("atlas.found", **values))


def formula(context: AtlasContext | None) -> None:
    """The rule of a label, and below it the numbers of the score that is shown."""
    st.latex(LABEL)
    if context is not None:
        name = SCORE.read(context.names)
        score = context.score(name)
        if not math.isnan(score.hurdle):
            values = {"hurdle": format_score(name, score.hurdle), "chance": format_score(name, highest(score))}
            say(context.t("atlas.found_hurdle", label=context.title(name), models=len(context.atlas.seeds), **values))
        say_even_on_text(context, name)
