"""How the page opens: on three words by hand, unless the link asks for something that only a text has."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.step_by_step.stepper import ON_THE_TEXT, SOFTMAX, THREE_WORDS, WITHOUT_TEXT
from viz.frame import state
from viz.frame.connection.openings import name_in_link, open_with
from viz.frame.page import Page, Section, say_refused
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
            open_with("step", str(SOFTMAX))
        if {section.name for section in opened} <= set(WITHOUT_TEXT):
            self._draw_without_text(opened)
        else:
            super().draw()
        self.finish()

    def _opened(self) -> tuple[Section, ...]:
        """The section of the link; of one that names none, the steps on the text if it carries what they need."""
        state.belong_to(self.name, "section")
        if not state.is_known("section"):
            carried = [section.name for section in self.sections if any(map(state.asked, section.parameters))]
            if carried or any(map(state.asked, OF_THE_TEXT)):
                state.put("section", [*carried, ON_THE_TEXT][0])
        return super()._opened()

    def _draw_without_text(self, opened: tuple[Section, ...]) -> None:
        t = translator(st.session_state["lang"])
        note = self.head(t, opened)
        replace(self, context=lambda scene: scene)._draw_sections(WithoutText(t), opened)  # type: ignore[arg-type]
        state.keep(*OF_THE_TEXT)
        say_refused(t, note)

    def finish(self) -> None:
        """Leave the section that a link opens without naming it out of the link."""
        name_in_link("step")
        state.leave_out("section", ON_THE_TEXT if set(OF_THE_TEXT) & set(state.link()) else THREE_WORDS)
