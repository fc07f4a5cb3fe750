"""The editor of one's own lesson. It stands in the browser, and so does the lesson; the server reads files for it."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from viz import limits
from viz.components.mount import mount
from viz.frame import state
from viz.frame.lesson.own import OWN, of_link, said_of, with_places
from viz.frame.sidebar import path_of
from viz.lessons.lesson import OwnLessonError
from viz.lessons.own import checked, lesson_of, read_toml, unpacked
from viz.text import Translate, words_of

EDITOR, _LOADED = "my_lesson", "_my_lesson_loaded"
LONGEST = {
    "title": limits.OWN_LESSON_TITLE,
    "question": limits.OWN_LESSON_QUESTION,
    "link": limits.OWN_LESSON_LINK,
    "file": limits.OWN_LESSON_BYTES,
}


def editor(t: Translate, lang: str) -> None:
    """Draw it, with the lesson of the link beside it, if there is one."""
    data = {
        "words": words_of(lang, "my_lesson"),
        "lang": lang,
        "longest": LONGEST,
        "given": _given(lang),
        "loaded": st.session_state.pop(_LOADED, None),
    }
    mount("lesson/my_lesson", key=EDITOR, data=data, on_did_change=partial(_take, t, lang))


def _given(lang: str) -> dict[str, Any] | None:
    """The lesson of the link: to begin it, and to take it over."""
    if not state.is_known(OWN) or (found := of_link()) is None:
        return None
    lesson, opens = found
    start = f"{path_of(lesson.steps[0].page)}?{urlencode({**opens, 'lesson_step': 1, 'lang': lang})}"
    table = _in_language(checked(unpacked(opens[OWN])), lang)
    return {"title": lesson.title[lang], "start": start, "lesson": table}


def _take(t: Translate, lang: str) -> None:
    """Read a file, and hand back what stands in it; nothing of it is kept."""
    sent: Any = st.session_state[EDITOR].get("did")
    if not isinstance(sent, Mapping) or sent.get("action") != "read" or not isinstance(sent.get("text"), str):
        return
    loaded: dict[str, Any] = {"n": sent.get("n"), "lesson": None, "problem": ""}
    try:
        table = read_toml(sent["text"])
        with_places(lesson_of(table, ""))
        loaded["lesson"] = _in_language(table, lang)
    except OwnLessonError as error:
        loaded["problem"] = said_of(t, error)
    st.session_state[_LOADED] = loaded


def _in_language(table: Mapping[str, Any], lang: str) -> dict[str, Any]:
    """A lesson's table with its texts in one language: that is what one person edits."""

    def text(found: str | Mapping[str, str]) -> str:
        return found if isinstance(found, str) else found[lang]

    steps = [
        step | {"title": text(step["title"]), "ask": {"question": text(step["ask"]["question"])}}
        for step in table["step"]
    ]
    return {"title": text(table["title"]), "step": steps}
