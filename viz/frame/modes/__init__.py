"""Modes: ways to look at every page, such as a lesson or a presentation. The frame knows this protocol and no mode.

A mode is a folder in ``viz/modes`` whose ``MODE`` is a :class:`Mode`. Each hook does nothing unless a mode says so.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import streamlit as st

from viz.frame import view
from viz.params import Parameter, link
from viz.params.memory import Remembered
from viz.text import Translate

if TYPE_CHECKING:
    from viz.frame.modes.steps import Walk
    from viz.frame.scene import Scene
    from viz.frame.section import Section

Draw = Callable[[], None]
PagePart = Literal[
    "navigation", "title", "page_lead", "views", "all_sections", "section_lead", "fragments", "room_to_write",
    "footer", "buttons", "answers", "figure_menu", "inner_steps",
]  # fmt: skip
"""Parts that a mode can hide or turn off: of the screen, all sections below each other, fragments of sections,
lines to write on, the whole footer, its buttons, or on paper its answers, the menu of pictures, and the steps inside a
section.
"""

NOTHING: Final[frozenset[PagePart]] = frozenset()


@dataclass(frozen=True, kw_only=True)
class PageRun:
    """The page that is open, in one run."""

    t: Translate
    page: str
    pages: Sequence[str]
    sections_of: Callable[[str], Sequence[str]]
    is_first: bool


class Mode:
    """One way to look at pages. A subclass overrides the hooks it needs."""

    reads: Mapping[str, Callable[[], Any]] = MappingProxyType({})
    """The options of the view that it reads, by the name in :func:`viz.frame.view.of_link`."""
    parameters: tuple[str, ...] = ()
    """The parameters of the link that these are read from; a link to another page carries them along."""
    opened_by: tuple[Parameter[Any], ...] = ()
    """Of a mode without options of the view, the parameters that open it; Back to a link without them closes it."""

    @property
    def hides(self) -> Collection[PagePart]:
        """The parts that it hides or turns off; asked for wherever they are drawn."""
        return NOTHING

    def before(self, t: Translate) -> None:
        """Begin a run, before anything of it is drawn."""

    def before_page(self, t: Translate) -> None:
        """Draw above the page."""

    def around_page(self, run: PageRun, draw: Draw) -> None:
        """Draw the page: ``draw`` draws what is inside."""
        draw()

    def below_page(self, run: PageRun) -> None:
        """Draw below the page, inside its fragment."""

    def after_page(self, run: PageRun) -> None:
        """Draw what needs all that the page has declared."""

    def below_title(self) -> None:
        """Draw between a page's title and its tabs."""

    def before_sections(self, scene: "Scene", open_sections: "Sequence[Section]", context: Any) -> None:
        """Draw above the sections that are open."""

    def around_section(self, t: Translate, section: "Section", draw: Draw) -> None:
        """Draw a section below its title, the lead and the footer included."""
        draw()

    def around_picture(self, t: Translate, section: "Section", draw: Draw) -> None:
        """Draw a section without its lead and its footer, in its fragment."""
        draw()

    def lead(self, t: Translate, page: str, section: str) -> str:
        """Return another lead for a section; "" for its own."""
        return ""

    def mark(self, sentence: str) -> str:
        """Return a sentence of the page as HTML; "" to have it shown as Markdown."""
        return ""

    def refusal(self, t: Translate) -> str:
        """Return the reason why this mode refuses the link, in a sentence."""
        return ""

    def document(self, lang: str) -> Mapping[str, Any]:
        """Return the data sent to the browser once for the whole page."""
        return {}

    def memory(self) -> Any:
        """Return what each run of a fragment begins with again."""
        return None

    def remember(self, memory: Any) -> None:
        """Take up what :meth:`memory` returned, at the beginning of a fragment's run."""

    def walk(self, t: Translate) -> "Walk | None":
        """Return the steps that a presentation goes through; None for the sections of all pages."""
        return None

    def step_of_view(self, t: Translate, page: str, section: str) -> Mapping[str, Any]:
        """Return the data of a step that the panel for sharing needs, on or not."""
        return {}


_installed: list[Mode] = []
_OF_RUN: Remembered[tuple[Mode, ...]] = Remembered("_modes", default=())
of_run = _OF_RUN.read
"""Return the modes that this run goes through, the outermost first."""
_HIDING: Remembered[tuple[Mode, ...]] = Remembered("_hiding_modes", default=())
"""Of these, the ones that hide parts."""


def install(modes: Iterable[Mode]) -> None:
    """Have the app go through these modes, the outermost first."""
    _installed[:] = modes


def shows(part: PagePart) -> bool:
    """Return True if no mode hides a part."""
    return not any(part in mode.hides for mode in _HIDING.read())


def read_view() -> view.View:
    """Read the view options of the link for this run, and with them its modes; one without parameters is always on."""
    options = {name: read() for mode in _installed for name, read in mode.reads.items()}
    view_options = view.of_link(**options)
    view.set_current(view_options)
    on = [mode for mode in _installed if _is_on(mode, view_options)]
    _OF_RUN.set(tuple(on))
    _HIDING.set(tuple(mode for mode in on if type(mode).hides is not Mode.hides))
    return view_options


def _is_on(mode: Mode, view_options: view.View) -> bool:
    if not mode.opened_by:
        return not mode.reads or any(getattr(view_options, name) != getattr(view.PLAIN, name) for name in mode.reads)
    unknown = [parameter for parameter in mode.opened_by if not parameter.is_known]
    for parameter in unknown:
        # Its value may predate Back or Forward.
        parameter.forget()
    return len(unknown) < len(mode.opened_by)


def parameters() -> tuple[str, ...]:
    """Return the parameters of the link that say how a page is looked at."""
    return tuple(name for mode in _installed for name in mode.parameters)


def link_parameters() -> dict[str, str]:
    """Return the view's query parameters for a link to another step or page; the browser adds Streamlit's own."""
    current_link = link.link()
    return {name: current_link[name] for name in parameters() if name in current_link}


def draw_through(hook: Literal["page", "section", "picture"], *about: Any, draw: Draw) -> None:
    """Draw the page, a section, or a section without its lead and its footer through every mode."""
    for mode in reversed(of_run()):
        draw = partial(getattr(mode, f"around_{hook}"), *about, draw)
    draw()


def lead_of(t: Translate, page: str, section: str) -> str:
    """Return a section's one sentence."""
    return next(filter(None, (mode.lead(t, page, section) for mode in of_run())), "") or t(f"{page}.{section}.lead")


def say(sentence: str) -> None:
    """Show a sentence, written in Markdown, as the modes have it."""
    html = next(filter(None, (mode.mark(sentence) for mode in of_run())), "")
    if html:
        st.html(html)
    else:
        st.markdown(sentence)


def document(lang: str) -> dict[str, Any]:
    """Return the data sent to the browser once for the whole page."""
    return {name: value for mode in of_run() for name, value in mode.document(lang).items()}


def memories() -> list[tuple[Mode, Any]]:
    """Return what each run of a fragment begins with again, mode by mode."""
    return [(mode, mode.memory()) for mode in of_run() if type(mode).memory is not Mode.memory]


def remember(states: Iterable[tuple[Mode, Any]]) -> None:
    """Begin the run of a fragment."""
    for mode, memory in states:
        mode.remember(memory)


def walk(t: Translate) -> "Walk | None":
    """Return the steps that a mode leads through, if one does."""
    return next(filter(None, (mode.walk(t) for mode in of_run())), None)


def step_of_view(t: Translate, page: str, section: str) -> Mapping[str, Any] | None:
    """Return a step that shows this view, if a mode has such steps."""
    return next(filter(None, (mode.step_of_view(t, page, section) for mode in _installed)), None)


def refusal(t: Translate) -> str:
    """Return the reason why a mode refuses the link, in a sentence; "" if none does."""
    return next(filter(None, (mode.refusal(t) for mode in of_run())), "")
