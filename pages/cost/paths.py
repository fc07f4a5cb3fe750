"""Picture of the steps between any two words of the user's own text."""

import streamlit as st

from pages.cost.classic_table import steps_off
from pages.cost.context import CostContext, draw_sizes
from pages.cost.pack import paths_data
from viz.components.view import View
from viz.core.cost.architectures import find_architecture
from viz.frame.checks import Check, check
from viz.frame.modes import say

PATHS = View("cost/paths")


def draw(context: CostContext) -> list[Check]:
    """The way between two words in five architectures; the numbers of steps are sent with the picture."""
    t, s = context.t, context.sizes
    data = paths_data(s, context.scene.labels, t)
    PATHS.mount(key="paths", data=data)
    draw_sizes(context)
    say(t("cost.path_shows", k=s.k))
    st.caption(t("cost.path_note"))
    off = max(steps_off(find_architecture(panel["name"]), panel["steps"], s.k) for panel in data["panels"])
    return [check("cost.check_paths", off, 0, n=len(data["tokens"]))]
