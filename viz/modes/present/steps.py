"""The position of a presentation, and its neighbours: a lesson's steps, or the sections of all pages."""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from viz.frame import modes
from viz.frame.links import SHARED
from viz.frame.modes.inner_steps import InnerSteps
from viz.frame.modes.steps import Place, title_of
from viz.frame.shared import LANG, SECTION
from viz.frame.sidebar import path_of
from viz.params.link import link as current_link
from viz.text import Translate

Sections = Callable[[str], Sequence[str]]
"""The names of a page's sections."""


def place(
    t: Translate, page: str, pages: Sequence[str], sections_of: Sections, inner: InnerSteps | None = None
) -> Place:
    """Return the position of the open page; the link to the next section has no inner step."""
    sections = list(sections_of(page))
    open_section = SECTION.value if sections and SECTION.has_value else None
    at = sections.index(open_section) if open_section in sections else 0
    previous, following = beside(page, at, pages, sections_of)
    section = sections[at] if sections else ""
    return Place(
        at=at + 1,
        of=max(1, len(sections)),
        title=title_of(t, page, section),
        note=modes.lead_of(t, page, section) if section else t(f"{page}.lead"),
        minutes=0,
        previous=_link(page, *previous) if previous else "",
        next=_link(page, *following, without=inner.name if inner else "") if following else "",
        next_page=following[0] if following else "",
        following=title_of(t, *following) if following else "",
        asks=False,
    )


Spot = tuple[str, str]
"""A page, and one of its sections; "" where it has none."""


def beside(page: str, at: int, pages: Sequence[str], sections_of: Sections) -> tuple[Spot | None, Spot | None]:
    """The sections before and after one, across the ends of its page."""
    sections = list(sections_of(page))
    place = pages.index(page) if page in pages else -1
    before, after = pages[place - 1 : place] if place > 0 else (), pages[place + 1 : place + 2]
    earlier = [(page, name) for name in sections[:at]] or [(name, (*sections_of(name), "")[-2]) for name in before]
    later = [(page, name) for name in sections[at + 1 :]] or [(name, sections_of(name)[0]) for name in after]
    return earlier[-1] if earlier else None, later[0] if later else None


def _link(page: str, to_page: str, section: str, *, without: str = "") -> str:
    """Return the link to a section with the user's choices; on another page, the shared ones alone."""
    apart = (SECTION.name, without, *modes.parameters())
    parameters = {name: value for name, value in current_link().items() if name not in apart}
    if to_page != page:
        parameters = {name: value for name, value in parameters.items() if name in SHARED}
    lang = {LANG.name: LANG.value}
    return f"{path_of(to_page)}?{urlencode({**parameters, **lang, **modes.link_parameters(), 'section': section})}"


def leave(page: str) -> str:
    """The same page, no longer presented."""
    link: Mapping[str, str] = current_link()
    return f"{path_of(page)}?{urlencode({name: value for name, value in link.items() if name != 'present'})}"
