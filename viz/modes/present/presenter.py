"""The presentation's message to the browser: the step, its neighbours, the notes, and a QR code on request."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

from viz.components.bundle import views
from viz.components.kinds import Fields, OneOf, Text
from viz.components.view import View, address
from viz.frame import modes
from viz.frame.format import number
from viz.frame.links.address import address as link_of_view
from viz.frame.links.address import code_rows, is_local
from viz.frame.modes.inner_steps import InnerSteps, take
from viz.frame.modes.steps import Walk
from viz.frame.shared import LANG
from viz.frame.sidebar import path_of
from viz.modes.present.prefetch import prefetch
from viz.modes.present.steps import Sections, leave, place
from viz.params.memory import Remembered
from viz.streamlit_internals.static import STATIC
from viz.text import Translate

DID = Fields(step=Text(1000), action=OneOf("forward", "back", "reveal", "code", "close"))
PRESENTER = View("present/presenter", words="present.bar_", sends={"did": DID})
NOTES = View("present/notes", words="present.bar_")
_CODE: Remembered[str | None] = Remembered("_present_code", default=None)
"""The step whose address is shown as a code."""
LATER = ("PlotlyChart", "DataFrame", "Slider", "NumberInput", "Checkbox", "Button")
"""Figures, tables, controls: Streamlit asks for their code with the first of a kind."""
APART = ("compare", "figure", "frame", "lesson", "lib", "present", "share", "start", "take_away")
"""Views that no section shows, or that are there."""


def draw(t: Translate, page: str, pages: Sequence[str], sections_of: Sections) -> None:
    """The keys and the buttons of a presentation; the next step is computed meanwhile."""
    walk, lang = modes.walk(t), LANG.value
    inner = take() if walk is None else None
    current_place = place(t, page, pages, sections_of, inner) if walk is None else walk.place
    step = f"{page}/{current_place.at}/{current_place.title}"
    data = asdict(current_place) | {
        "step": step,
        "minutes": number(current_place.minutes) if current_place.minutes else "",
        "leave": leave(page),
        "notes": f"{path_of(page)}?notes=1&lang={lang}",
        "code": _code(t) if _CODE.read() == step else None,
        "modules": modules(),
        "inner": {"at": inner.at, "of": len(inner.values)} if inner else None,
        "closing": None if current_place.next else closing_slide(t, page, sections_of, walk),
    }
    PRESENTER.mount(key="presenter", data=data, on={"did": partial(_do, step, inner, walk)})
    if current_place.next:
        link = dict(parse_qsl(current_place.next.partition("?")[2]))
        # Some parameters the link leaves to the mode that leads through the steps.
        prefetch(link if walk is None else {**walk.shown_next, **link})


@cache
def modules() -> list[str]:
    """Return the URLs of the scripts that later steps need, the largest first, to be prefetched."""
    files = [file.name for name in LATER for file in (STATIC / "static" / "js").glob(f"{name}.*.js")]
    section_views = (view for view in views() if view.partition("/")[0] not in APART)
    return [*(f"static/js/{file}" for file in files), *map(address, section_views)]


def _do(step: str, inner: InnerSteps | None, walk: Walk | None, message: Mapping[str, Any]) -> None:
    """Apply the browser's action at this step."""
    if message["step"] != step:
        return
    match message["action"]:
        case "forward" | "back" as way if inner is not None:
            inner.go(1 if way == "forward" else -1)
        case "reveal" if walk is not None:
            walk.reveal()
        case "code":
            _CODE.set(step)
        case "close":
            _CODE.set(None)


def _code(t: Translate) -> dict[str, Any]:
    """Return the QR code of the current view, with a note."""
    url = link_of_view(lang=LANG.value)
    rows, note = code_rows(url), ""
    if not rows:
        note = t("share.too_long")
    elif is_local(url):
        note = t("share.local")
    return {"rows": list(rows), "address": url, "note": note}


def closing_slide(t: Translate, page: str, sections_of: Sections, walk: Walk | None) -> dict[str, Any]:
    """Return the last slide: ``title``, ``shown``, ``keep`` and ``links``; the last link is the list of lessons."""
    titles = [t(f"{page}.{name}.title") for name in sections_of(page)]
    of_page = {"title": t(f"{page}.title"), "shown": titles, "keep": [], "links": []}
    slide = of_page if walk is None else walk.closing()
    # The list of lessons is no longer presented.
    lessons = {"text": t("lessons.title"), "to": f"lessons?{urlencode({'lang': LANG.value})}"}
    return {**slide, "links": [*slide["links"], lessons]}
