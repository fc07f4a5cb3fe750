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
    comparison = compared_of(scene, second, context.view, context.head)
    view = picture(scene, second, comparison, context.head)
    kinds = [slot.kind for slot in compute.sides(comparison).alignment.slots]
    counts = {kind: kinds.count(kind) for kind in ("same", "replaced", "removed", "inserted")}
    st.caption(paragraph(*(scene.t(f"second.{kind}", n=n) for kind, n in counts.items() if n)))
    if context.view.what == "scores":
        st.caption(scene.t("second.weights_only"))
    training_result = training(scene, second)
    return [*compare_checks(view), *training_result, *next_words(scene, second)]
