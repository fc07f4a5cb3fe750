"""Where a presentation stands, and what comes before and after: a lesson's steps, or the sections of all pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from viz.frame import lesson, view
from viz.frame.present.inner_steps import InnerSteps
from viz.frame.shared import LANG, SECTION
from viz.frame.sidebar import path_of
from viz.frame.terms.links import SHARED
from viz.params.link import link as current_link
from viz.text import Translate

Sections = Callable[[str], Sequence[str]]
"""The names of a page's sections."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """One step of a presentation.

    Args:
        at: which it is, from 1.
        of: how many there are.
        title: what it is called.
        note: what the teacher should know.
        minutes: how long it takes; 0 if nobody says.
        previous: the link to the step before; "" if there is none.
        next: to the step after.
        next_page: the page it is on.
        following: what that is called.
        asks: whether a question is open: then the next key answers it.
        lesson: whether it is a step of a lesson.
    """

    at: int
    of: int
    title: str
    note: str
    minutes: float
    previous: str
    next: str
    next_page: str
    following: str
    asks: bool
    lesson: bool = False


def place(
    t: Translate, page: str, pages: Sequence[str], sections_of: Sections, inner: InnerSteps | None = None
) -> Place:
    """Where the page that is open stands; the next section does not begin at the inner step of this one."""
    running = lesson.current()
    if running is not None:
        return of_lesson(t, running)
    sections = list(sections_of(page))
    opened = SECTION.value if sections and SECTION.has_value else None
    at = sections.index(opened) if opened in sections else 0
    before, after = beside(page, at, pages, sections_of)
    section = sections[at] if sections else ""
    return Place(
        at=at + 1,
        of=max(1, len(sections)),
        title=title_of(t, page, section),
        note=view.lead_of(t, page, section) if section else t(f"{page}.lead"),
        minutes=0,
        previous=_link(page, *before) if before else "",
        next=_link(page, *after, without=inner.name if inner else "") if after else "",
        next_page=after[0] if after else "",
        following=title_of(t, *after) if after else "",
        asks=False,
    )


def of_lesson(t: Translate, running: "lesson.Running") -> Place:
    """A step of a lesson."""
    steps, number = running.lesson.steps, running.number
    following = steps[number] if number < len(steps) else None
    stands = title_of(t, running.step.page, running.step.section)
    return Place(
        at=number,
        of=len(steps),
        title=t("present.step", lesson=running.lesson.title[running.lang], place=stands),
        note=running.step.note[running.lang],
        minutes=running.step.minutes,
        previous=running.link(number - 1) if number > 1 else "",
        next=running.link(number + 1) if following else "",
        next_page=following.page if following else "",
        following=title_of(t, following.page, following.section) if following else "",
        asks=running.asks,
        lesson=True,
    )


def title_of(t: Translate, page: str, section: str) -> str:
    """What a section is called, with its page."""
    title = t(f"{page}.title")
    return t("present.place", page=title, section=t(f"{page}.{section}.title")) if section else title


Spot = tuple[str, str]
"""A page, and one of its sections; "" where it has none."""


def beside(page: str, at: int, pages: Sequence[str], sections_of: Sections) -> tuple[Spot | None, Spot | None]:
    """The sections before and after one, across the ends of its page.

    Example:
        >>> sections = {"a": ["x", "y"], "b": ["z"]}
        >>> beside("a", 1, ["a", "b"], sections.__getitem__)
        (('a', 'x'), ('b', 'z'))
    """
    sections = list(sections_of(page))
    place = pages.index(page) if page in pages else -1
    before, after = pages[place - 1 : place] if place > 0 else (), pages[place + 1 : place + 2]
    earlier = [(page, name) for name in sections[:at]] or [(name, (*sections_of(name), "")[-2]) for name in before]
    later = [(page, name) for name in sections[at + 1 :]] or [(name, sections_of(name)[0]) for name in after]
    return earlier[-1] if earlier else None, later[0] if later else None


def _link(page: str, to_page: str, section: str, *, without: str = "") -> str:
    """To a section, with what was chosen; on another page, as far as it means the same there."""
    apart = ("section", without, *view.PARAMETERS)
    chosen = {name: value for name, value in current_link().items() if name not in apart}
    if to_page != page:
        chosen = {name: value for name, value in chosen.items() if name in SHARED}
    lang = {"lang": LANG.value}
    return f"{path_of(to_page)}?{urlencode({**chosen, **lang, **view.carried(), 'section': section})}"


def leave(page: str) -> str:
    """The same page, no longer presented."""
    link: Mapping[str, str] = current_link()
    return f"{path_of(page)}?{urlencode({name: value for name, value in link.items() if name != 'present'})}"
