"""Terms of the field: marked in the sentences of every page, and what letters of a formula are called elsewhere."""

from collections.abc import Iterable

from viz.frame.modes import Mode
from viz.modes.glossary import marks
from viz.text import Translate


class GlossaryMode(Mode):
    """At its first place on the screen each term opens what it means."""

    def before(self, t: Translate) -> None:
        """Begin with no term marked."""
        marks.begin()

    def mark(self, sentence: str) -> str:
        """Return the sentence with its terms marked that were not on this screen before."""
        return marks.mark(sentence)

    def memory(self) -> frozenset[str]:
        """Return the terms that are marked outside a fragment."""
        return marks.marked_terms()

    def remember(self, memory: Iterable[str]) -> None:
        """Begin the run of a fragment with these terms marked."""
        marks.begin(memory)

    def below_formula(self, t: Translate, page: str, section: str, latex: str) -> None:
        """Draw the switch to other books' letters."""
        # The first page has no formula, so that it need not import this.
        from viz.modes.glossary.letters import translate_letters

        translate_letters(t, page, section, latex)


MODE = GlossaryMode()
