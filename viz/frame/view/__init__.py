"""How a page is looked at, as its link says: presented, in somebody else's page, printed, without some controls.

None of it changes a number. It is asked for once, before the page is drawn, and read by whoever draws a part of it.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, cast

import streamlit as st

from viz.params import Choice, Flag, Text, link
from viz.params.memory import Remembered
from viz.text import Translate, has_text

Print = Literal["none", "worksheet", "answers"]
Theme = Literal["", "light", "dark"]

PRINTS: Final[tuple[Print, ...]] = ("none", "worksheet", "answers")
THEMES: Final[tuple[Theme, ...]] = ("", "light", "dark")
MOST_HIDDEN = 32
"""Controls that a link may hide."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, kw_only=True)
class View:
    """How a page is looked at.

    Args:
        present: in front of a class: ``present=1``.
        notes: the window with the notes of such a presentation, and nothing else: ``notes=1``.
        embed: in somebody else's page: Streamlit's own ``embed=true``, or ``embed=1``, which the server sends there.
        print: on paper, with room to write (``print=worksheet``, or ``print=1``) or with answers (``print=answers``).
        hide: names of controls that are not shown; their values count: ``without=text-chips-layer``. (In a link
            ``hide`` has always been the special tokens of the head grid.)
        theme: "light" or "dark"; "" is the visitor's own: ``theme=dark``.
    """

    present: bool = False
    notes: bool = False
    embed: bool = False
    print: Print = "none"
    hide: frozenset[str] = frozenset()
    theme: Theme = ""

    @property
    def is_bare(self) -> bool:
        """Whether the page stands without the navigation."""
        return self.present or self.notes or self.embed

    @property
    def is_paper(self) -> bool:
        """Whether the page is made for paper."""
        return self.print != PRINTS[0]

    def shows(self, name: str) -> bool:
        """Whether a control is shown, which has this name in the link, or is called so below."""
        return name not in self.hide


_VIEW: Remembered[View] = Remembered("_view", default=View())


def _on(raw: str) -> bool:
    if raw not in ("0", "1"):
        raise ValueError(raw)
    return raw == "1"


def _print(raw: str) -> str:
    return PRINTS[1] if raw == "1" else raw


def _names(raw: str) -> str:
    names = [name for name in raw.split("-") if name]
    if not all(map(_NAME.fullmatch, names)):
        raise ValueError(raw)
    return "-".join(dict.fromkeys(names))


PRESENT, NOTES = Flag("present", parse=_on), Flag("notes", parse=_on)
PRINT = Choice("print", among=PRINTS, parse=_print)
WITHOUT = Text("without", parse=_names, allows=lambda names: names.count("-") < MOST_HIDDEN)
THEME = Choice("theme", among=THEMES)
PARAMETERS: Final = tuple(parameter.name for parameter in (PRESENT, NOTES, PRINT, WITHOUT, THEME))
"""Those of the link that are about the view; ``embed`` is Streamlit's, which keeps it there itself."""


def read_view() -> View:
    """The view of the link, for this run; what it cannot mean is left aside."""
    embed = bool(st.context.is_embedded)
    view = View(
        present=PRESENT.read() and not embed,
        notes=NOTES.read(),
        embed=embed,
        print=cast(Print, PRINT.read()),
        hide=frozenset(WITHOUT.read().split("-")) - {""},
        theme=cast(Theme, THEME.read()),
    )
    _VIEW.set(view)
    return view


def current() -> View:
    """The view of this run."""
    return _VIEW.read()


def lead_of(t: Translate, page: str, section: str) -> str:
    """A section's one sentence; in a presentation the arrow keys are not the section's, and it may be another one."""
    presented = f"{page}.{section}.lead_present"
    return t(presented if current().present and has_text(presented) else f"{page}.{section}.lead")


def carried() -> dict[str, str]:
    """What a link to another step or page says of the view, so that it stays; Streamlit's own the browser adds."""
    held = link.link()
    return {name: held[name] for name in PARAMETERS if name in held}
