"""The large figure of a picture, in a dialog: the picture's menu sends its tables.

The numbers come from the browser, because it makes many of them itself: at another temperature, under a painted mask.
They are drawn for the user who sent them, and not kept.
"""

import streamlit as st

from viz.figures.large import figure_of
from viz.frame.large_figure.message import read_message
from viz.text import Translate

_KEY = "large_figure"


def open_figure(t: Translate, message: object) -> None:
    """Open the figure of a browser's message; say so if it is refused."""
    title = t("figure_menu.plotly_title")
    try:
        name, caption, tables = read_message(message)
    except ValueError:
        st.dialog(title)(st.warning)(t("figure_menu.refused"))
        return
    figures = [figure_of(tables, select=t("figure_menu.select"))]

    @st.dialog(title, width="large")
    def show() -> None:
        if not figures:
            return
        save = {"format": "svg", "filename": name}
        config = {"displaylogo": False, "displayModeBar": True, "scrollZoom": True, "toImageButtonOptions": save}
        # Streamlit holds this function until the page is drawn again: it gives the numbers away.
        st.plotly_chart(figures.pop(), width="stretch", key=_KEY, alt=caption, config=config)
        st.text(caption)

    show()
