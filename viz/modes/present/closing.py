"""The last slide of a presentation: its steps, and links to go on."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from viz.frame.modes.steps import Walk
from viz.frame.shared import LANG
from viz.modes.present.steps import Sections
from viz.text import Translate


def closing_slide(t: Translate, page: str, sections_of: Sections, walk: Walk | None) -> dict[str, Any]:
    """Return the last slide: ``title``, ``shown``, ``keep`` and ``links``; the last link is the list of lessons."""
    slide = _of_page(t, page, sections_of) if walk is None else walk.closing()
    # The list of lessons is no longer presented.
    lessons = {"text": t("lessons.title"), "to": f"lessons?{urlencode({'lang': LANG.value})}"}
    return {**slide, "links": [*slide["links"], lessons]}


def _of_page(t: Translate, page: str, sections_of: Sections) -> Mapping[str, Any]:
    sections = [t(f"{page}.{name}.title") for name in sections_of(page)]
    return {"title": t(f"{page}.title"), "shown": sections, "keep": [], "links": []}
