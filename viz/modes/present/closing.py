"""The slide at the end of a presentation: what was shown, and where to go on."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from viz.frame.modes.steps import Walk
from viz.frame.shared import LANG
from viz.modes.present.steps import Sections
from viz.text import Translate


def closing_slide(t: Translate, page: str, sections_of: Sections, walk: Walk | None) -> dict[str, Any]:
    """Return what the last slide says: ``title``, ``shown``, ``keep`` and ``links``, the list of lessons the last."""
    slide = _of_page(t, page, sections_of) if walk is None else walk.closing()
    # The list of lessons is no longer presented.
    lessons = {"text": t("lessons.title"), "to": f"lessons?{urlencode({'lang': LANG.value})}"}
    return {**slide, "links": [*slide["links"], lessons]}


def _of_page(t: Translate, page: str, sections_of: Sections) -> Mapping[str, Any]:
    sections = [t(f"{page}.{name}.title") for name in sections_of(page)]
    return {"title": t(f"{page}.title"), "shown": sections, "keep": [], "links": []}
