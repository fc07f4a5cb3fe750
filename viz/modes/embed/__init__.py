"""A page embedded in another site: no navigation, fewer controls, its own height, and one link to the app."""

import re
from functools import partial
from types import MappingProxyType

import streamlit as st

from viz.components.view import View as ClientView
from viz.frame import view
from viz.frame.links.address import address
from viz.frame.modes import NOTHING, Mode, PagePart, PageRun
from viz.frame.view import THEMES
from viz.frame.view.assets import style
from viz.params import Choice, Text
from viz.text import Translate

MOST_HIDDEN = 32
"""Controls that a link may hide."""
HIDDEN_AS = {"text": "text_row", "examples": "_example"}
"""Keys of controls whose name in the link differs from their key on the page."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_BARE: frozenset[PagePart] = frozenset(("navigation", "title", "page_lead", "views", "all_sections", "fragments"))


def _names(raw: str) -> str:
    names = [name for name in raw.split("-") if name]
    if not all(map(_NAME.fullmatch, names)):
        raise ValueError(raw)
    return "-".join(dict.fromkeys(names))


WITHOUT = Text("without", parse=_names, allows=lambda names: names.count("-") < MOST_HIDDEN)
THEME = Choice("theme", among=THEMES)
HEIGHT = ClientView("frame/height")


class EmbedMode(Mode):
    """Streamlit's own ``embed=true``, which it keeps in the link itself; and what a frame may leave out of any page."""

    reads = MappingProxyType(
        {"embed": partial(getattr, st.context, "is_embedded"), "hide": WITHOUT.read, "theme": THEME.read}
    )
    parameters = (WITHOUT.name, THEME.name)

    def before(self, t: Translate) -> None:
        """Send the styles."""
        view_options = view.current()
        if view_options.embed:
            st.html(style("embedded.css"))
        hide(view_options.hide)

    @property
    def hides(self) -> frozenset[PagePart]:
        """Return the parts that an embedded page hides."""
        return _BARE if view.current().embed else NOTHING

    def below_page(self, run: PageRun) -> None:
        """Draw the link to this page in the app with all its parameters, and report the page's height."""
        if view.current().embed:
            with st.container(key="way_out"):
                st.link_button(run.t("page.open_here"), address(), type="tertiary")
            HEIGHT.mount(key="height", data={})


def hide(names: frozenset[str]) -> None:
    """Have controls not shown; they are there, and count."""
    if names:
        keys = sorted(HIDDEN_AS.get(name, name) for name in names)
        rules = ", ".join(f".st-key-{name}, .st-key-chip_{name}" for name in keys)
        properties = " ".join(f"--without-{name}: none;" for name in sorted(names))
        st.html(f"<style>.stApp :is({rules}) {{ display: none !important; }} .stApp {{ {properties} }}</style>")


MODE = EmbedMode()
