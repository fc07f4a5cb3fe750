"""Links to ``/`` from when that was Heads: they open it for good, with all they ask for."""

from collections.abc import Iterable
from urllib.parse import urlencode, urlparse

import streamlit as st

from viz.components.mount import mount
from viz.frame.connection.address import asked_link
from viz.frame.terms.links import SHARED

_OF_THE_PAGE = "section", "lesson", "lesson_step"
_OF_THE_GRID = "query", "key", "temperature", "sort", "show", "look", "combine", "several", "what", "merge", "hide"
_OF_ITS_SECTIONS = "part", "after", "off", "image", "text_b", "model_b", "layer_b", "head_b", "compared"
ASKED = frozenset((*SHARED, *_OF_THE_PAGE, *_OF_THE_GRID, *_OF_ITS_SECTIONS))
"""What a link to Heads may ask for, now or in an earlier version. Whatever else it carries is not ours."""


def is_old(names: Iterable[str], *, embedded: bool) -> bool:
    """Whether a link to ``/`` with these parameters was one to Heads; in somebody else's page it always was."""
    return embedded or not ASKED.isdisjoint(names)


def go_on(path: str) -> None:
    """Open another page with what this link asks for, in place of this one: Back does not lead here again."""
    base = urlparse(st.context.url or "").path.rpartition("/")[0]
    link = urlencode(asked_link())
    mount("frame/reopen", key="reopen", data={"address": f"{base}/{path}" + (f"?{link}" if link else "")})
    st.stop()
