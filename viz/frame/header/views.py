"""Sections with several views: one is open at a time, and pills above it choose which.

Each view has the picture, the live checks, the formula, the code and the downloads of a section; its texts stand under
its own name, and the parameter ``view`` of the link says which is open.
"""

from dataclasses import dataclass

import streamlit as st

from viz.frame import controls, state
from viz.frame.page import Page, Section
from viz.text import Translate, has_text

VIEW = "view"


@dataclass(frozen=True)
class SectionOfViews(Section):
    """A section of several views. Its name, its title and all else are those of the first, until another is chosen."""

    views: tuple[Section, ...] = ()


def with_views(*views: Section, in_menu: bool = False) -> SectionOfViews:
    """Return a section of these views, with the name of the first.

    An old link, without ``section=``, means it if it carries a parameter of any of them.
    """
    parameters = tuple(name for view in views for name in view.parameters)
    return SectionOfViews(views[0].name, views[0].draw, parameters=parameters, in_menu=in_menu, views=views)


def views_of(section: Section) -> tuple[Section, ...]:
    """Return the views of a section; one without views is its own only view."""
    return section.views if isinstance(section, SectionOfViews) else (section,)


def opened_view() -> str:
    """Return the name of the view that is open, or of the section if that has none."""
    return str(st.session_state.get(VIEW) or st.session_state["section"])


class PageOfViews(Page):
    """A page on which some sections have views."""

    def _opened(self) -> tuple[Section, ...]:
        """The open view of the section of the link; of an old link, the one whose parameters it carries."""
        opened = super()._opened()
        if len(opened) > 1:
            state.belong_to(self.name, VIEW)
            return tuple(view for section in opened for view in views_of(section))
        return tuple(map(self._open_view, opened))

    def _open_view(self, section: Section) -> Section:
        state.belong_to((self.name, section.name), VIEW)
        if not isinstance(section, SectionOfViews):
            return section
        views = {view.name: view for view in section.views}
        carried = (name for name, view in views.items() if any(map(state.asked, view.parameters)))
        if not state.is_known(VIEW) and (name := next(carried, "")):
            state.put(VIEW, name)
        return views[state.choice(VIEW, section.name, [*views])]

    def _tabs(self, t: Translate, *, whole: bool) -> None:
        """The tabs, and in the same line, where there is room, the pills of the views."""
        opened = next(section for section in self.sections if whole or section.name == st.session_state["section"])
        if whole or not isinstance(opened, SectionOfViews):
            super()._tabs(t, whole=whole)
            return
        with st.container(key="tabs_and_views", horizontal=True, gap="small", vertical_alignment="bottom"):
            super()._tabs(t, whole=whole)
            controls.choice(
                t("page.views"),
                VIEW,
                [view.name for view in opened.views],
                lambda name: t(label if has_text(label := f"{self.name}.{name}.pill") else f"{self.name}.{name}.title"),
                look="pills",
                label_visibility="collapsed",
                width="content",
            )
