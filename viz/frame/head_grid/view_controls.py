"""How the maps of a head grid are shown: weights or scores, pieces merged, special tokens hidden."""

import streamlit as st

from viz.frame import controls, specs, state
from viz.frame.scene import Scene


def view_controls(scene: Scene) -> specs.View:
    """A chip with what a map shows; what a view changes is said in it."""
    t, what = scene.t, state.choice("what", "weights", ("weights", "scores"))
    merge, hide = state.flag("merge"), state.flag("hide")
    label = " · ".join([t(f"view.{what}"), *[t("view.merged")] * merge, *[t("view.hidden")] * hide])
    with scene.chips.add("view", label):
        help_text = t("view.what_help")
        controls.choice(t("view.what"), "what", ("weights", "scores"), lambda code: t(f"view.{code}"), help=help_text)
        controls.toggle(t("view.merge"), "merge", help=t("view.merge_help"))
        controls.toggle(t("view.hide"), "hide", help=t("view.hide_help"))
        if merge and what == "weights":
            st.caption(t("view.merge_says"))
        if hide and what == "weights":
            st.caption(t("view.hide_says"))
    return specs.View(what=what, merge=merge, hide=hide)
