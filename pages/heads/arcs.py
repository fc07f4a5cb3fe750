"""The text with arcs from one of its words to those that it looks at, as on the start page, for the chosen head."""

import streamlit as st

from pages.heads.context import HeadsContext, check_row
from pages.heads.row import row_places
from viz.components.view import View
from viz.frame.checks import Check
from viz.frame.shared import QUERY
from viz.models.spelling.visible import SPACE

ARCS = View("start/arcs", words="start.arcs_")
MOST_TOKENS = 48
"""Arcs of a longer text could not be told apart."""
ROW_SUM = 1e-3
"""Tolerance of a row's sum: no printed digit changes."""


def draw(context: HeadsContext) -> list[Check]:
    """Draw the arcs from the chosen word; pointing at another one shows its own."""
    scene, trace = context.scene, context.scene.trace
    tokens = scene.capture.tokens
    words = [place for place, special in enumerate(tokens.special) if not special]
    # What a sink takes, or a row with every key closed, would be said to go to the word itself.
    is_whole = bool((trace.weights[context.head].sum(-1) - 1).abs().max() < ROW_SUM)
    if scene.capture.is_cross or not words or len(tokens.ids) > MOST_TOKENS or not is_whole:
        st.info(scene.t("heads.arcs_none"))
        return []
    query = QUERY.read(row_places(context))
    at = query if query in words else words[0]
    labels = [label.removeprefix(SPACE) or label for label in tokens.labels]
    sentence = {"text": scene.choice.source.text, "labels": labels, "special": tokens.special}
    sentence["weights"] = trace.weights[context.head].tolist()
    data = {"at": at, "sentences": [sentence], "lang": scene.choice.lang, "whole": 1}
    data |= {"model": scene.choice.source.model, "layer": scene.layer_number, "head": context.head}
    # The page says below which numbers these are.
    own_words = {} if scene.choice.source.kind == "model" else {"from_now": ""}
    ARCS.mount(key="arcs", data=data, words=own_words)
    return [check_row(scene, context.head)]
