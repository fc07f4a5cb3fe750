"""The app's style and a static first paint in Streamlit's page, visible before Streamlit's script runs.

Streamlit sends the style with the first run, and its sidebar after an empty page: both would shift the layout.
The first paint is a page's title, lead, links to all pages and default picture as plain HTML, with its own style. It
is inside Streamlit's root element, so Streamlit's first render replaces it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

from viz import ASSETS
from viz.frame.sidebar import path_of
from viz.frame.view import assets
from viz.streamlit_internals.static import index_page
from viz.text import LANGUAGES, Translate, has_text, translator

FRAME = """
@media (min-width: 768px) { :where(.stApp:not(:has(.stSidebar))) .stAppViewContainer { padding-left: 300px; } }
.stSidebar:not(:has([data-testid="stSidebarNavItems"])) [data-testid="stSidebarUserContent"] { visibility: hidden; }
"""
"""Reserves the sidebar's space before it renders, and hides its content until the page links are there. It is an
element of its own, which frame/document.js removes once the sidebar renders: such a rule makes the browser restyle all
elements with a test id at each click.
"""
ALONE = ".stSidebar { display: none; }"
"""In its place where a view has no sidebar: Streamlit draws one before the view's own style comes."""
LESSON = ALONE + " .stMainBlockContainer { visibility: hidden; }"
"""The same for a lesson, whose page is visible once its own style comes (``assets/lesson.css``)."""

ROOT_ELEMENT = '<div id="root"></div>'
"""Streamlit's root element."""
_FONT = re.compile(r'href="(\./static/media/SourceSansVF-Upright[^"]*)"')
_EMPHASIS = re.compile(r"\*([^*]+)\*")


def style(frame: str) -> str:
    """Return the style elements for the body: after Streamlit's rules in the head, before those of a page."""
    return assets.style("style.css") + (f'<style id="frame">{frame}</style>' if frame else "")


@cache
def paint_style() -> str:
    """Return the style of the first paint, with the font that Streamlit's page preloads, if any."""
    font = _FONT.search(index_page())
    source = f"url({font[1]}) format('woff2')" if font else "local('Source Sans')"
    face = f"@font-face {{ font-family: 'Paint Sans'; font-weight: 200 900; src: {source}; }}\n"
    return f"<style>{face}{(ASSETS / 'first_paint.css').read_text('utf8')}</style>"


@dataclass(frozen=True, kw_only=True)
class StaticPaint:
    """The first paint of every page: the navigation by groups, and the HTML of default pictures by language."""

    navigation: Mapping[str, Sequence[str]]
    pictures: Mapping[str, Callable[[str], str]]

    def add_to(self, page: str, *, name: str, lang: str, is_default: bool) -> str:
        """Return Streamlit's HTML of a page with the first paint in it.

        By default, with no other parameters in the link, the page will show the default picture.
        """
        t = translator(lang)
        title = t(f"{name}.headline") if has_text(f"{name}.headline") else t(f"{name}.title")
        lead = _EMPHASIS.sub(r"<em>\1</em>", escape(t(f"{name}.lead")))
        picture = self.pictures[name](lang) if is_default and name in self.pictures else ""
        main = f'<main class="{name}"><h1>{escape(title)}</h1><p class="lead">{lead}</p>{picture}</main>'
        paint = f'{paint_style()}<div id="first-paint">{main}{self._links(t, name, lang)}</div>'
        return page.replace(ROOT_ELEMENT, ROOT_ELEMENT.replace("></", f">{paint}</"), 1)

    def _links(self, t: Translate, current: str, lang: str) -> str:
        """Return the navigation: links to all pages in their groups, and to this page in each language."""
        first = next(iter(self.navigation.values()))[0]

        def link(name: str, label: str, code: str, attributes: str) -> str:
            path = "" if name == first else path_of(name)
            return f'<a href="./{path}?lang={code}"{attributes}>{escape(label)}</a>'

        groups = "".join(
            f"<h2>{escape(t(f'page.group_{group}'))}</h2>"
            + "".join(
                link(name, t(f"{name}.title"), lang, ' aria-current="page"' * (name == current)) for name in names
            )
            for group, names in self.navigation.items()
        )
        languages = "".join(
            link(current, label, code, f' lang="{code}"' + ' aria-current="true"' * (code == lang))
            for code, label in LANGUAGES.items()
        )
        return f'<nav class="pages">{groups}<p>{languages}</p></nav>'
