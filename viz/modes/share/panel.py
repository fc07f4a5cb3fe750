"""One folded button on every page: its address to copy, a code for phones, a frame for somebody else's page.

Until it is opened nothing of it is computed or sent but the button. The source line in the menu of every picture stands
here too; the browser (``client/frame/figures.js``) puts the menu there, and reads caption and link off the page.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import limits
from viz.components.kinds import Text
from viz.components.view import View
from viz.components.view import address as view_address
from viz.frame import modes
from viz.frame.links.address import address, code_rows, is_local
from viz.frame.modes import Mode, PageRun
from viz.frame.shared import LANG, open_section
from viz.frame.sidebar import path_of
from viz.params.memory import Remembered
from viz.text import Translate, words_of

KEY = "_share"
SHARE = View("share/share", words="share.bar_", sends={"code": Text(limits.MESSAGE_LINK)})
_CODE: Remembered[str | None] = Remembered("_share_code", default=None)
"""The address that is shown as a code."""
_PLACE: Remembered[DeltaGenerator] = Remembered("_share_place")
CONTROLS = ("text", "chips", "layer", "mask")
"""Controls that the panel offers to hide, by their names in the link; a link may name any other."""

MENU = "figure/menu"


def keep_place() -> None:
    """Reserve the button's place at the top of the page, where its style sheet expects it.

    Its panel needs the whole page's parameters, so it is drawn last.
    """
    _PLACE.set(st.container(key="share_view"))


def offer(t: Translate, page: str) -> None:
    """Draw the button, and its panel if it is open."""
    with _PLACE.read():
        panel = st.popover(t("share.title"), key=KEY, on_change="rerun", type="tertiary")
        if panel.open:
            with panel:
                _draw(t, page)


def _draw(t: Translate, page: str) -> None:
    lang = LANG.value
    url = address(lang=lang)
    section = open_section(page)
    title = t(f"{page}.{section}.title") if section and section != "all" else t(f"{page}.title")
    data = {
        "address": url,
        "local": is_local(url),
        "embed": f"{url}{'&' if '?' in url else '?'}{urlencode({'embed': 1})}",
        "present": f"{url}{'&' if '?' in url else '?'}{urlencode({'present': 1})}",
        "title": f"{title} · Headlight",
        "controls": [(name, t(f"share.control_{name}")) for name in CONTROLS],
        "code": list(code_rows(url)) if _CODE.read() == url else None,
        "step": (section and section != "all" and modes.step_of_view(t, page, section)) or None,
        "most_steps": limits.OWN_LESSON_STEPS,
        "lessons": f"{path_of('lessons')}?{urlencode({'section': 'mine', 'lang': lang})}",
    }
    SHARE.mount(key="share_panel", data=data, on={"code": partial(_make_code, url)})


def _make_code(url: str, address: str) -> None:
    """Make a code of the address that is shown, if it is the one that was asked for."""
    if address == url:
        _CODE.set(url)


def figure_menu(lang: str) -> dict[str, Any] | None:
    """Return the menu's message for all pictures of this run; None without a menu: presented or on paper."""
    if not modes.shows("figure_menu"):
        return None
    return {
        "words": dict(words_of(lang, "figure_menu")),
        "menu": view_address(MENU),
    }


class ShareMode(Mode):
    """A folded button on every page, and the menu of every picture."""

    def before_page(self, t: Translate) -> None:
        """Keep the button's place."""
        if modes.shows("navigation"):
            keep_place()

    def after_page(self, run: PageRun) -> None:
        """Draw the button; its link has the parameters that the whole page has declared."""
        if modes.shows("navigation"):
            offer(run.t, run.page)

    def document(self, lang: str) -> Mapping[str, Any]:
        """Return the data of the menus of all pictures."""
        return {"figures": figure_menu(lang)}


MODE = ShareMode()
