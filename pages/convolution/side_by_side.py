"""Pictures side by side, each a figure of its own: on a phone they stand below each other, and no frames overlap."""

from collections.abc import Sequence

import streamlit as st

from viz.figures.pictures import Panel, pictures
from viz.frame.show import show


def show_side_by_side(panels: Sequence[Panel], *, key: str, alt: str) -> None:
    """Show panels in columns; ``alt`` says what all of them show."""
    for i, (column, panel) in enumerate(zip(st.columns(len(panels)), panels, strict=True)):
        with column:
            show(pictures([panel], across=1), key=f"{key}_{i}", alt=f"{panel.title}. {alt}")
