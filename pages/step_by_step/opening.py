"""How the page opens: on three words by hand, unless the link asks for something that only a text has."""

from dataclasses import dataclass, replace

from pages.step_by_step.stepper import ON_THE_TEXT, SOFTMAX, STEP, THREE_WORDS, WITHOUT_TEXT
from viz.frame.connection.openings import name_in_link, open_with
from viz.frame.page import Page, Section, say_refused
from viz.frame.shared import LANG, SECTION, Sections
from viz.params import link
from viz.text import Translate, translator

OF_THE_TEXT = (
    "text", "source", "model", "layer", "mask", "width", "gap", "pad", "pad_left", "painted", "n_heads", "n_kv_heads",
    "d_model", "seed", "head", "query", "key", "step",
)  # fmt: skip
"""What a link without ``section=`` may carry if it means the steps on a text: links from before there was another."""


@dataclass(frozen=True)
class WithoutText:
    """What a section that has numbers of its own stands on: the language, and no choice of a text or a model."""

    t: Translate
    choice: None = None


class HandFirst(Page):
    """A page of which some sections, the first among them, read no text.

    There neither the text nor a model is asked for, loaded or sent.
    """

    def draw(self) -> None:
        """Draw the page, with the section that is open."""
        opened = self._opened()
        if any(section.name == ON_THE_TEXT for section in opened):
            open_with(STEP.name, str(SOFTMAX))
        if {section.name for section in opened} <= set(WITHOUT_TEXT):
            self._draw_without_text(opened)
        else:
            super().draw()
        self.finish()

    def _opened(self) -> tuple[Section, ...]:
        """The section of the link; of one that names none, the steps on the text if it carries what they need."""
        SECTION.enter(Sections(self.name, [section.name for section in self.sections]))
        if not SECTION.is_known:
            carried = [section.name for section in self.sections if any(map(link.asked, section.parameters))]
            if carried or any(map(link.asked, OF_THE_TEXT)):
                SECTION.set([*carried, ON_THE_TEXT][0])
        return super()._opened()

    def _draw_without_text(self, opened: tuple[Section, ...]) -> None:
        t = translator(LANG.value)
        note = self.head(t, opened)
        replace(self, context=lambda scene: scene)._draw_sections(WithoutText(t), opened)  # type: ignore[arg-type]
        link.keep(*OF_THE_TEXT)
        say_refused(t, note)

    def finish(self) -> None:
        """Leave the section that a link opens without naming it out of the link."""
        name_in_link(STEP.name)
        SECTION.leave_out(ON_THE_TEXT if set(OF_THE_TEXT) & set(link.link()) else THREE_WORDS)
