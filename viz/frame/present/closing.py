"""The slide at the end of a presentation: what was shown, what to keep of a lesson, and where to go on."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from viz.frame import lesson, view
from viz.frame.present.ways import Sections, title_of
from viz.frame.shared import LANG
from viz.frame.sidebar import path_of
from viz.lessons.read import lesson_named, names
from viz.text import Translate


def closing_slide(t: Translate, page: str, sections_of: Sections) -> dict[str, Any]:
    """Return what the last slide says, and the links on it."""
    running, lang = lesson.current(), LANG.value
    if running is None:
        sections = [t(f"{page}.{name}.title") for name in sections_of(page)]
        return {"title": t(f"{page}.title"), "shown": sections, "keep": [], "links": [_lessons(t, lang)]}
    found = running.lesson
    titles = [title_of(t, step.page, step.section) for step in found.steps]
    following = _following(found.name, getattr(found, "next", ""))
    return {
        "title": found.title[lang],
        "shown": [*dict.fromkeys(titles)],
        "keep": [sentence[lang] for sentence in getattr(found, "keep", ())],
        "links": [*(_lesson(name, lang) for name in following), _lessons(t, lang)],
    }


def _following(name: str, wanted: str) -> Sequence[str]:
    """Return the lesson that goes on from one: the one that it names, or the next in the list."""
    listed = names()
    if wanted:
        return [wanted]
    return listed[listed.index(name) + 1 :][:1] if name in listed else ()


def _lesson(name: str, lang: str) -> dict[str, str]:
    """Return a link that presents a lesson from its first step."""
    found = lesson_named(name)
    query = {"lesson": name, "lesson_step": "1", "lang": lang, **view.carried()}
    return {"text": found.title[lang], "to": f"{path_of(found.steps[0].page)}?{urlencode(query)}"}


def _lessons(t: Translate, lang: str) -> dict[str, str]:
    """Return a link to the list of lessons, which is no longer presented."""
    return {"text": t("lessons.title"), "to": f"lessons?{urlencode({'lang': lang})}"}
