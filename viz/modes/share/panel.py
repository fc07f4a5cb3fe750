"""One folded button on every page: its address to copy, a code for phones, a frame for somebody else's page.

Until it is opened nothing of it is computed or sent but the button.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from viz import limits
from viz.components.mount import mount
from viz.frame import modes
from viz.frame.links.address import address, code_rows, is_local
from viz.frame.sidebar import path_of
from viz.text import Translate, sentences

KEY = "_share"
_CODE, _PLACE = "_share_code", "_share_place"
CONTROLS = ("text", "chips", "layer", "mask")
"""Controls that the panel offers to hide, by their names in the link; a link may name any other."""


def keep_place() -> None:
    """Keep the button's place where the page begins: there the style has it, which comes a moment later.

    What it opens says what the whole page has declared, so it is drawn after that.
    """
    st.session_state[_PLACE] = st.container(key="share_view")


def offer(t: Translate, page: str) -> None:
    """Draw the button, and if it is open what it opens."""
    with st.session_state[_PLACE]:
        panel = st.popover(t("share.title"), key=KEY, on_change="rerun", type="tertiary")
        if panel.open:
            with panel:
                _draw(t, page)


def _draw(t: Translate, page: str) -> None:
    lang = st.session_state["lang"]
    found = address(lang=lang)
    section = st.session_state.get("section") if st.session_state.get("_section_of") == page else None
    title = t(f"{page}.{section}.title") if section and section != "all" else t(f"{page}.title")
    data = {
        "words": {
            name.removeprefix("share.bar_"): text for name, text in sentences(lang).items() if "share.bar_" in name
        },
        "address": found,
        "local": is_local(found),
        "embed": f"{found}{'&' if '?' in found else '?'}{urlencode({'embed': 1})}",
        "present": f"{found}{'&' if '?' in found else '?'}{urlencode({'present': 1})}",
        "title": f"{title} · Headlight",
        "controls": [(name, t(f"share.control_{name}")) for name in CONTROLS],
        "code": list(code_rows(found)) if st.session_state.get(_CODE) == found else None,
        "step": modes.step_of_view(t, page, section) if section and section != "all" else None,
        "most_steps": limits.OWN_LESSON_STEPS,
        "lessons": f"{path_of('lessons')}?{urlencode({'lang': lang})}",
    }
    mount("share/share", key="share_panel", data=data, on_did_change=partial(_take, found))


def _take(found: str) -> None:
    """Make a code of the address that is shown, when it is asked for."""
    sent: Any = st.session_state["share_panel"].get("did")
    if isinstance(sent, Mapping) and sent.get("action") == "code" and sent.get("address") == found:
        st.session_state[_CODE] = found
