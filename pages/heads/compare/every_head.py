"""Two texts, or two models, side by side: which heads see them differently, and where."""

import streamlit as st

from pages.heads.compare import compute
from pages.heads.compare.checks import compare_checks
from pages.heads.compare.next_word import next_words
from pages.heads.compare.picture import picture
from pages.heads.compare.second import ask_second, compared_of
from pages.heads.compare.training import offer_training, training
from pages.heads.context import HeadsContext
from viz.frame.checks import Check
from viz.text import paragraph


def draw(context: HeadsContext) -> list[Check]:
    """The second text, two maps and their difference, and every head in the order of how much it changed."""
    scene = context.scene
    second = ask_second(scene)
    if second is None:
        return []
    offer_training(scene, second)
    if second.by_words:
        st.caption(scene.t("second.by_words"))
    compared = compared_of(scene, second, context.view, context.head)
    shown = picture(scene, second, compared, context.head)
    kinds = [slot.kind for slot in compute.sides(compared).alignment.slots]
    counted = {kind: kinds.count(kind) for kind in ("same", "replaced", "removed", "inserted")}
    st.caption(paragraph(*(scene.t(f"second.{kind}", n=n) for kind, n in counted.items() if n)))
    if context.view.what == "scores":
        st.caption(scene.t("second.weights_only"))
    found = training(scene, second)
    return [*compare_checks(shown), *found, *next_words(scene, second)]
