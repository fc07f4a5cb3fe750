"""The sidebar: the pages in their groups, and the interface's language. Embedded in another site (``?embed=1``) there
is no sidebar, and one link: to this page in the app.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

import streamlit as st

from viz import PAGES
from viz.components.view import View
from viz.frame import modes, view
from viz.frame.shared import LANG
from viz.frame.view.assets import picture
from viz.params.session import of_session
from viz.text import Translate, has_text, sentences, translator

DOCUMENT = View("frame/document")


def language() -> Translate:
    """The interface's language; at first the browser's."""
    return translator(LANG.read())


def describe_page() -> None:
    """Send the browser the page's language, the keyboard's shortcuts and the pictures' menus."""
    lang, view_options = LANG.value, view.current()
    theme = "light" if view_options.is_paper else view_options.theme
    data = {"lang": lang, "theme": theme, "sidebar": modes.shows("navigation"), **modes.document(lang)}
    DOCUMENT.mount(key="document", data=data)


def file_of(page: str) -> str:
    """The file by which Streamlit knows a page."""
    return str(PAGES / page / "page.py")


def path_of(page: str) -> str:
    """Return a page's path in the address bar."""
    return page.replace("_", "-")


def tab_title(t: Translate, page: str) -> str:
    """Return a page's title in the browser's tab and in shared links."""
    return t(f"{page}.tab") if has_text(f"{page}.tab") else f"{t(f'{page}.title')} · Headlight"


@cache
def _page(name: str, title: str, *, is_first: bool = False, is_alias: bool = False) -> st.Page:
    """Return a page's ``st.Page``, cached: making one resolves all folders above its file."""
    path = "" if is_first else path_of(name)
    visibility: Literal["visible", "hidden"] = "hidden" if is_alias else "visible"
    return st.Page(file_of(name), title=title, url_path=path, default=is_first, visibility=visibility)


def navigation(t: Translate, groups: Mapping[str, Sequence[str]], first: str, *, hidden: bool) -> str:
    """Draw the pages in their groups, unless they are hidden, and give the name of the one that is open."""
    texts = sentences(LANG.value)
    page_groups = {
        t(f"page.group_{group}"): [_page(name, texts[f"{name}.title"], is_first=name == first) for name in names]
        for group, names in groups.items()
    }
    # At its own path, too, the first page is found: Streamlit knows it at "/" alone.
    next(iter(page_groups.values())).append(_page(first, t(f"{first}.title"), is_alias=True))
    current_page = st.navigation(page_groups, position="hidden" if hidden else "sidebar", expanded=True)
    of_session().open_page(current_page.url_path)
    pages = [name for names in groups.values() for name in names]
    open_page = next((name for name in pages if path_of(name) == current_page.url_path), first)
    st.set_page_config(page_title=tab_title(t, open_page), page_icon=picture("favicon.png"), layout="wide")
    return open_page


def neighbours(t: Translate, pages: Sequence[str], open_page: str) -> None:
    """The pages before and after the one that is open."""
    at = pages.index(open_page)
    with st.container(key="neighbours", horizontal=True, horizontal_alignment="distribute"):
        for name, arrow in zip((*pages[:at][-1:], *pages[at + 1 : at + 2]), ("← {}", "{} →")[at == 0 :], strict=False):
            st.page_link(_page(name, t(f"{name}.title")), label=arrow.format(t(f"{name}.title")))
