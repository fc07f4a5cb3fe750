"""Figures on the page, and what the button in their corner saves."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from viz.figures.unchecked import unchecked
from viz.frame import state

IMAGES = ("png", "svg")
"""What the camera button of every figure may save."""


def show(fig: dict[str, Any], *, key: str, alt: str, on_click: Callable[[], None] | None = None) -> None:
    """Show a figure; its camera button saves it as the page's image format. A click on a point calls ``on_click``."""
    kind = state.choice("image", "png", IMAGES)
    save = {"format": kind, "filename": f"headlight-{key}", "scale": 2 if kind == "png" else 1}
    st.plotly_chart(
        unchecked(fig),
        key=key,
        alt=alt,
        config={"displaylogo": False, "toImageButtonOptions": save},
        on_select=on_click or "ignore",
        selection_mode="points",
    )
