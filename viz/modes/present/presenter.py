"""What the browser is told of a presentation: the step, those beside it, the notes, and a code if it is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from viz.components.bundle import views
from viz.components.mount import address, mount
from viz.frame import modes
from viz.frame.format import number
from viz.frame.links.address import address as link_of_view
from viz.frame.links.address import code_rows, is_local
from viz.frame.modes.inner_steps import InnerSteps, take
from viz.frame.modes.steps import Place, Walk
from viz.frame.sidebar import path_of
from viz.modes.present.closing import closing_slide
from viz.modes.present.prefetch import prefetch
from viz.modes.present.ways import Sections, leave, place
from viz.streamlit_internals.static import STATIC
from viz.text import Translate, sentences

KEY, NOTES = "presenter", "notes"
_CODE = "_present_code"
LATER = ("PlotlyChart", "DataFrame", "Slider", "NumberInput", "Checkbox", "Button")
"""Figures, tables, controls: Streamlit asks for their code with the first of a kind."""
APART = ("compare", "figure", "frame", "lesson", "lib", "present", "share", "start", "take_away")
"""Views that no section shows, or that are there."""


def draw(t: Translate, page: str, pages: Sequence[str], sections_of: Sections) -> None:
    """The keys and the buttons of a presentation; the next step is computed meanwhile."""
    walk, lang = modes.walk(t), st.session_state["lang"]
    inner = take() if walk is None else None
    found = place(t, page, pages, sections_of, inner) if walk is None else walk.place
    step = f"{page}/{found.at}/{found.title}"
    shown = asdict(found) | {
        "words": _words(lang),
        "step": step,
        "minutes": number(found.minutes) if found.minutes else "",
        "leave": leave(page),
        "notes": f"{path_of(page)}?notes=1&lang={lang}",
        "code": _code(t) if st.session_state.get(_CODE) == step else None,
        "modules": modules(),
        "inner": {"at": inner.at, "of": len(inner.values)} if inner else None,
        "closing": None if found.next else closing_slide(t, page, sections_of, walk),
    }
    mount("present/presenter", key=KEY, data=shown, on_did_change=partial(_take, step, inner, walk))
    if found.next:
        prefetch(_shown_next(found, walk))


@cache
def modules() -> list[str]:
    """Where the browser finds the code of what any step may show, the largest first: read while one is shown."""
    files = [file.name for name in LATER for file in (STATIC / "static" / "js").glob(f"{name}.*.js")]
    shown = (view for view in views() if view.partition("/")[0] not in APART)
    return [*(f"static/js/{file}" for file in files), *map(address, shown)]


def _shown_next(found: Place, walk: Walk | None) -> dict[str, str]:
    """The parameters of the next step: also those that its link leaves to the mode that leads through the steps."""
    link = dict(parse_qsl(found.next.partition("?")[2]))
    return link if walk is None else {**walk.shown_next, **link}


def draw_notes(t: Translate) -> None:
    """The notes, in a window of their own."""
    del t
    mount("present/notes", key=NOTES, data={"words": _words(st.session_state["lang"])})


def _words(lang: str) -> dict[str, str]:
    prefix = "present.bar_"
    return {name.removeprefix(prefix): text for name, text in sentences(lang).items() if name.startswith(prefix)}


def _take(step: str, inner: InnerSteps | None, walk: Walk | None) -> None:
    """Do what was asked for in the browser at this step."""
    sent: Any = st.session_state[KEY].get("did")
    if not isinstance(sent, Mapping) or sent.get("step") != step:
        return
    match sent.get("action"):
        case "forward" | "back" as way if inner is not None:
            inner.go(1 if way == "forward" else -1)
        case "reveal" if walk is not None:
            walk.reveal()
        case "code":
            st.session_state[_CODE] = step
        case "close":
            st.session_state[_CODE] = None


def _code(t: Translate) -> dict[str, Any]:
    """What is shown, as a code; and what has to be said of it."""
    found = link_of_view(lang=st.session_state["lang"])
    rows, note = code_rows(found), ""
    if not rows:
        note = t("share.too_long")
    elif is_local(found):
        note = t("share.local")
    return {"rows": list(rows), "address": found, "note": note}
