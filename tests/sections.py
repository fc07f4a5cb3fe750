"""Every page, section and view of the app."""

from importlib import import_module

from pages import PAGES
from viz.frame.header.views import views_of
from viz.frame.page import Page


def page_named(name: str) -> Page:
    """The page in the folder of this name."""
    page: Page = import_module(f"pages.{name}.page").PAGE
    return page


SECTIONS = [(name, section.name) for name in PAGES for section in page_named(name).sections]

VIEWS = [
    (name, section.name, view.name)
    for name in PAGES
    for section in page_named(name).sections
    if len(views_of(section)) > 1
    for view in views_of(section)
]
"""Every view of a section that has several: its page, its section and its name."""
