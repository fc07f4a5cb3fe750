"""One folded button on every page: its address to copy, a code for phones, a frame for somebody else's page.

Until it is opened nothing of it is computed or sent but the button.
"""

from functools import partial
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import limits
from viz.components.kinds import Text
from viz.components.view import View
from viz.frame.share.address import address, code_rows, is_local
from viz.frame.shared import LANG, open_section
from viz.frame.sidebar import path_of
from viz.params.memory import Remembered
from viz.text import Translate

KEY = "_share"
SHARE = View("share/share", words="share.bar_", sends={"code": Text(limits.MESSAGE_LINK)})
HEIGHT = View("frame/height")
_CODE: Remembered[str | None] = Remembered("_share_code", default=None)
"""The address that is shown as a code."""
_PLACE: Remembered[DeltaGenerator] = Remembered("_share_place")
CONTROLS = ("text", "chips", "layer", "mask")
"""Controls that the panel offers to hide, by their names in the link; a link may name any other."""


def keep_place() -> None:
    """Keep the button's place where the page begins: there the style has it, which comes a moment later.

    What it opens says what the whole page has declared, so it is drawn after that.
    """
    _PLACE.set(st.container(key="share_view"))


def offer(t: Translate, page: str) -> None:
    """Draw the button, and if it is open what it opens."""
    with _PLACE.read():
        panel = st.popover(t("share.title"), key=KEY, on_change="rerun", type="tertiary")
        if panel.open:
            with panel:
                _draw(t, page)


def _draw(t: Translate, page: str) -> None:
    from viz.frame.lesson.own import LIST, step_of_view  # only for those who open it

    lang = LANG.value
    found = address(lang=lang)
    section = open_section(page)
    title = t(f"{page}.{section}.title") if section and section != "all" else t(f"{page}.title")
    data = {
        "address": found,
        "local": is_local(found),
        "embed": f"{found}{'&' if '?' in found else '?'}{urlencode({'embed': 1})}",
        "present": f"{found}{'&' if '?' in found else '?'}{urlencode({'present': 1})}",
        "title": f"{title} · Headlight",
        "controls": [(name, t(f"share.control_{name}")) for name in CONTROLS],
        "code": list(code_rows(found)) if _CODE.read() == found else None,
        "step": step_of_view(t, page, section) if section and section != "all" else None,
        "most_steps": limits.OWN_LESSON_STEPS,
        "lessons": f"{path_of(LIST)}?{urlencode({'lang': lang})}",
    }
    SHARE.mount(key="share_panel", data=data, on={"code": partial(_make_code, found)})


def _make_code(found: str, address: str) -> None:
    """Make a code of the address that is shown, if it is the one that was asked for."""
    if address == found:
        _CODE.set(found)


def tell_height() -> None:
    """In somebody else's page: how high this one is."""
    HEIGHT.mount(key="height", data={})


def hide(names: frozenset[str]) -> None:
    """Have controls not shown; they are there, and count."""
    if names:
        wanted = sorted(HIDDEN_AS.get(name, name) for name in names)
        rules = ", ".join(f".st-key-{name}, .st-key-chip_{name}" for name in wanted)
        told = " ".join(f"--without-{name}: 1;" for name in sorted(names))  # views hide what they draw themselves
        st.html(f"<style>.stApp :is({rules}) {{ display: none !important; }} .stApp {{ {told} }}</style>")


HIDDEN_AS = {"text": "text_row", "examples": "_example"}
"""Where a control's name in the link is not the name of its place on the page."""
