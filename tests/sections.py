"""Every page, section and view of the app."""

from importlib import import_module

from pages import PAGES
from viz.frame.page import Page, Section


def page_named(name: str) -> Page:
    """The page in the folder of this name."""
    page: Page = import_module(f"pages.{name}.page").PAGE
    return page


SECTIONS = [(name, section.name) for name in PAGES for section in page_named(name).sections]


def views_of(name: str) -> list[str]:
    """Return the names of all pictures of a page: its sections, and the views of those that have several."""
    return [view.name for section in page_named(name).sections for view in section_views(section)]


def section_views(section: Section) -> tuple[Section, ...]:
    """Return the views of a section; one without views is its own only view."""
    return section.views or (section,)


def link_to(name: str, view: str) -> dict[str, str]:
    """Return the parameters that open a section of a page, or a view of one."""
    switched = {
        part.name: {"section": section.name, section.switch: part.name}
        for section in page_named(name).sections
        for part in section.views
    }
    return switched.get(view, {"section": view})


VIEWS = [
    (name, section.name, view.name) for name in PAGES for section in page_named(name).sections for view in section.views
]
"""Every view of a section that has several: its page, its section and its name."""
