"""Opening of the page: three words by hand, without a text or a model."""

from dataclasses import dataclass

from pages.step_by_step.stepper import ON_THE_TEXT, SOFTMAX, STEP, WITHOUT_TEXT
from viz.frame.page import Page, Section, say_refused
from viz.frame.shared import LANG
from viz.params import link
from viz.params.session import open_with
from viz.text import Translate, translator

OF_THE_TEXT = (
    "text", "source", "model", "layer", "mask", "width", "gap", "pad", "pad_left", "painted", "n_heads", "n_kv_heads",
    "d_model", "seed", "head", "query", "key", "step",
)  # fmt: skip
"""Parameters of the steps on a text, which the link keeps while no text is read."""


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
        if [section.name for section in open_sections] == [ON_THE_TEXT]:
            open_with(STEP.name, str(SOFTMAX))
        if {section.name for section in open_sections} <= set(WITHOUT_TEXT):
            self._draw_without_text(open_sections)
        else:
            super().draw()

    def _draw_without_text(self, open_sections: tuple[Section, ...]) -> None:
        t = translator(LANG.value)
        note, scene = self.head(t, open_sections), WithoutText(t)
        self._draw_sections(scene, open_sections, scene)  # type: ignore[arg-type]
        link.retain_in_link(*OF_THE_TEXT)
        self.finish()
        say_refused(t, note)
