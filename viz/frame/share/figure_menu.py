"""What the menu of a picture says of it: whose numbers, on which text. Caption and link it reads off the page.

Every picture has the same menu, put there by the browser (``client/frame/figures.js``), which loads what it does when
it is opened for the first time.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from viz import limits
from viz.components.mount import address
from viz.frame import view
from viz.params import Parameter
from viz.params.memory import Remembered
from viz.text import Translate, words_of

if TYPE_CHECKING:  # the first page needs no torch
    from viz.frame.specs import Source

MENU = "figure/menu"
LONGEST = 300
"""Characters of a text that stand below a picture."""
_FACTS: Remembered[tuple[list[str], list[str]]] = Remembered("_figure_facts")
_TOLD: Remembered[tuple[list[str], list[str]] | None] = Remembered("_figure_facts_told", default=None)


def begin() -> None:
    """Start a run: nothing is known of its pictures."""
    _FACTS.set(([], []))


def note(facts: Sequence[str], apart: Iterable[str] = ()) -> None:
    """Have these lines stand below what this run shows.

    Args:
        facts: whose numbers the pictures show, and on which text.
        apart: the sections that have numbers of their own, of which no such thing can be said.
    """
    _FACTS.set(([_short(fact) for fact in facts if fact], sorted(apart)))


def note_source(t: Translate, source: "Source", apart: Iterable[str] = ()) -> None:
    """The same of a model and a text."""
    whose = " · ".join(part for part in (source.model, t(f"source.{source.kind}")) if part)
    note([whose, *(f"“{text}”" for text in (source.text, source.target) if text)], apart)


def stand_apart(section: str) -> None:
    """A section shows an example in place of what the page is about: nothing of the page is said below its picture."""
    facts, apart = _FACTS.read()
    _FACTS.set((facts, sorted({*apart, section})))


def is_out_of_date() -> bool:
    """Return whether the browser was told something else of the pictures than holds now."""
    return _FACTS.read() != _TOLD.read()


def _short(fact: str) -> str:
    line = " ".join(fact.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def tell(lang: str) -> dict[str, Any] | None:
    """What the browser is told of all pictures of this run; None where there is no menu: before a class, on paper."""
    facts, apart = _FACTS.read()
    _TOLD.set((facts, apart))
    looked_at = view.current()
    if looked_at.present or looked_at.notes or looked_at.print != "none":
        return None
    image = Parameter[str]("image")
    return {
        "words": words_of(lang, "figure_menu"),
        "menu": address(MENU),
        "facts": facts,
        "apart": apart,
        "first": image.value if image.has_value else "png",
        "most": limits.LARGE_BYTES,
    }
