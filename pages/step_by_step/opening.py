"""Opening of the page: three words by hand, unless the link has parameters of a text."""

from dataclasses import dataclass

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
"""Parameters of the steps on a text. An old link without ``section=`` that has one of them opens these steps."""


@dataclass(frozen=True)
class WithoutText:
    """Context of a section with its own numbers: the language, without a text or a model."""

    t: Translate
    choice: None = None


class HandFirst(Page):
    """A page in which some sections, among them the first, read no text.

    For these no model is loaded, and neither text nor model appears on the page.
    """

    def draw(self) -> None:
        """Draw the page with the open section."""
        open_sections = self._open_sections()
        if any(section.name == ON_THE_TEXT for section in open_sections):
            open_with(STEP.name, str(SOFTMAX))
        if {section.name for section in open_sections} <= set(WITHOUT_TEXT):
            self._draw_without_text(open_sections)
        else:
            super().draw()
        self.finish()

    def _open_sections(self) -> tuple[Section, ...]:
        """Return the section in the link; without one, the section whose parameters the link has."""
        SECTION.enter(Sections(self.name, [section.name for section in self.sections]))
        if not SECTION.is_known:
            matches = [section.name for section in self.sections if any(map(link.has_query, section.parameters))]
            if matches or any(map(link.has_query, OF_THE_TEXT)):
                SECTION.set([*matches, ON_THE_TEXT][0])
        return super()._open_sections()

    def _draw_without_text(self, open_sections: tuple[Section, ...]) -> None:
        t = translator(LANG.value)
        note, scene = self.head(t, open_sections), WithoutText(t)
        self._draw_sections(scene, open_sections, scene)  # type: ignore[arg-type]
        link.retain_in_link(*OF_THE_TEXT)
        say_refused(t, note)

    def finish(self) -> None:
        """Omit ``section=`` from the link where the link opens that section without it."""
        super().finish()
        name_in_link(STEP.name)
        SECTION.omit_from_link(ON_THE_TEXT if set(OF_THE_TEXT) & set(link.link()) else THREE_WORDS)
