"""The view options of a head grid: weights or scores, pieces merged, special tokens hidden."""

import streamlit as st

from viz.frame import specs
from viz.frame.scene import Scene
from viz.params import Choice, Flag

WHAT = Choice("what", among=("weights", "scores"))
MERGE, HIDE = Flag("merge"), Flag("hide")


def view_controls(scene: Scene) -> specs.View:
    """Draw a chip with the view options of a map and their effects."""
    t, what, merge, hide = scene.t, WHAT.read(), MERGE.read(), HIDE.read()
    label = " · ".join([t(f"view.{what}"), *[t("view.merged")] * merge, *[t("view.hidden")] * hide])
    with scene.chips.add("view", label):
        WHAT.segments(t("view.what"), says=lambda code: t(f"view.{code}"), help=t("view.what_help"))
        MERGE.toggle(t("view.merge"), help=t("view.merge_help"))
        HIDE.toggle(t("view.hide"), help=t("view.hide_help"))
        if merge and what == "weights":
            st.caption(t("view.merge_says"))
        if hide and what == "weights":
            st.caption(t("view.hide_says"))
    return specs.View(what=what, merge=merge, hide=hide)
