"""View options of a page from its link: presented, embedded, printed, without some controls.

They change no number. Before the page is drawn, the modes' options are read from the link
(:attr:`viz.frame.modes.Mode.reads`).
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from viz.params.memory import Remembered

Print = Literal["none", "worksheet", "answers"]
Theme = Literal["", "light", "dark"]

PRINTS: Final[tuple[Print, ...]] = ("none", "worksheet", "answers")
THEMES: Final[tuple[Theme, ...]] = ("", "light", "dark")


@dataclass(frozen=True, kw_only=True)
class View:
    """View options of a page.

    Args:
        present: in front of a class: ``present=1``.
        notes: the window with the notes of such a presentation, and nothing else: ``notes=1``.
        embed: in somebody else's page: Streamlit's own ``embed=true``, or ``embed=1``, which the server sends there.
        print: on paper, with room to write (``print=worksheet``, or ``print=1``) or with answers (``print=answers``).
        hide: names of controls that are not shown; their values count: ``without=text-chips-layer``. (In a link
            ``hide`` has always been the special tokens of the head grid.)
        theme: "light" or "dark"; "" is the user's own: ``theme=dark``.
    """

    present: bool = False
    notes: bool = False
    embed: bool = False
    print: Print = "none"
    hide: frozenset[str] = frozenset()
    theme: Theme = ""

    @property
    def is_bare(self) -> bool:
        """True if the page stands without the navigation."""
        return self.present or self.notes or self.embed

    @property
    def is_paper(self) -> bool:
        """True if the page is made for paper."""
        return self.print != PRINTS[0]

    def shows(self, name: str) -> bool:
        """Return True if a control is shown, which has this name in the link, or is called so below."""
        return name not in self.hide


PLAIN: Final = View()
"""Without any option."""
_VIEW: Remembered[View] = Remembered("_view", default=PLAIN)


def of_link(*, embed: bool | None = None, present: bool = False, hide: str = "", **options: Any) -> View:
    """Return the view of a link, where ``hide`` is names joined by hyphens; nothing embedded is presented."""
    names = frozenset(hide.split("-")) - {""}
    return View(embed=bool(embed), present=present and not embed, hide=names, **options)


set_current, current = _VIEW.set, _VIEW.read
"""Set and return the view of this run."""
