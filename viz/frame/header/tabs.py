"""The tabs of a page: its main sections in one line, a menu *More* with the others, and the views of the open one."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from viz.frame.shared import SECTION
from viz.params.memory import Remembered
from viz.text import Translate, has_text

if TYPE_CHECKING:
    from viz.frame.section import Section

ON_A_PHONE = 3
"""Tabs that a phone has room for; the style sheet hides the others there, and a menu of its own lists them."""

_MORE: Remembered[str | None] = Remembered("_more")
_MORE_ON_A_PHONE: Remembered[str | None] = Remembered("_more_phone")


def draw_tabs(t: Translate, main: Sequence[str], more: Sequence[str], titles: Mapping[str, str]) -> None:
    """Draw the tabs; a section of the menu that is open has a tab too."""
    open_section = SECTION.value
    with st.container(key="tabs", horizontal=True, gap=None, vertical_alignment="bottom"):
        SECTION.draw(
            st.segmented_control,
            t("page.sections"),
            [*main, open_section] if open_section not in main else list(main),
            default=open_section,
            required=True,
            label_visibility="collapsed",
            format_func=titles.__getitem__,
        )
        n_visible = ON_A_PHONE if open_section in main[:ON_A_PHONE] else ON_A_PHONE - 1
        menus = {_MORE: more, _MORE_ON_A_PHONE: [*main[n_visible:], *more]}
        for menu, menu_names in menus.items():
            if names := [name for name in menu_names if name != open_section]:
                st.menu_button(
                    t("page.more"),
                    names,
                    key=menu.name,
                    format_func=titles.__getitem__,
                    type="tertiary",
                    on_click=partial(_open, menu),
                )


def _open(menu: Remembered[str | None]) -> None:
    """Open the section chosen in a menu."""
    if section := menu.read():
        SECTION.choose(section)


def draw_views(t: Translate, page: str, section: "Section") -> None:
    """Draw a button for each view of a section, if it has several."""
    if not section.views:
        return

    def title(name: str) -> str:
        """Return a view's name beside the others, if there is one; else its title."""
        short = f"{page}.{name}.pill"
        return t(short if has_text(short) else f"{page}.{name}.title")

    section.opened_view.pills(t("page.views"), says=title, label_visibility="collapsed", width="content")
