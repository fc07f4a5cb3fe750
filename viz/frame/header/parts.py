"""Sections of several parts, of which a switch shows one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.frame import controls, state
from viz.frame.checks import Check
from viz.frame.page import Reads, Section
from viz.frame.terms.marks import say
from viz.models.layout import LoadedModel
from viz.text import has_text


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a section: its picture, and the code and the formula that belong to it.

    Its texts stand below ``<page>.<section>.<name>``: ``title`` on the switch, and if there are any ``says`` below the
    picture and ``why`` below the formula. ``beside`` draws a control in the row of the switch.
    """

    name: str
    draw: Callable[[Any], Iterable[Check] | None]
    beside: Callable[[Any], None] | None = None
    code: tuple[Callable[..., Any], ...] = ()
    formula: str | Callable[[Any], str] = ""
    reads_layer: Reads = True
    reads_head: Reads = True


def section_of_parts(
    page: str, name: str, parameter: str, parts: Sequence[Part], *, is_below: bool = False, **options: Any
) -> Section:
    """Return a section that shows one of its parts, with that part's checks, code and formula.

    Args:
        page: the name of the page.
        name: of the section.
        parameter: which part is shown, in the link; the first at first.
        parts: in the order of the switch.
        is_below: whether the switch stands below the picture, where that has controls of its own on top.
        options: more for the section.
    """
    made = _Parts(page=page, section=name, parameter=parameter, parts=tuple(parts), is_below=is_below)
    return Section(
        name,
        made.draw,
        code=lambda _: made.shown.code,
        formula=made.formula,
        reads_layer=made.reads(lambda part: part.reads_layer),
        reads_head=made.reads(lambda part: part.reads_head),
        **options,
    )


@dataclass(frozen=True, kw_only=True)
class _Parts:
    page: str
    section: str
    parameter: str
    parts: tuple[Part, ...]
    is_below: bool

    @property
    def _names(self) -> list[str]:
        return [part.name for part in self.parts]

    @property
    def shown(self) -> Part:
        """The part that is chosen."""
        name = state.choice(self.parameter, self._names[0], self._names)
        return self.parts[self._names.index(name)]

    def draw(self, context: Any) -> Iterable[Check] | None:
        """Draw the switch and the part, and return its checks."""
        part = self.shown
        if not self.is_below:
            self._switch(context, part)
        found = part.draw(context)
        if has_text(says := f"{self.page}.{self.section}.{part.name}.says"):
            say(context.t(says))
        if self.is_below:
            self._switch(context, part)
        return found

    def _switch(self, context: Any, part: Part) -> None:
        with st.container(key=f"parts_{self.section}", horizontal=True, gap="medium", vertical_alignment="center"):
            controls.choice(
                context.t(f"{self.page}.{self.section}.switch"),
                self.parameter,
                self._names,
                lambda name: context.t(f"{self.page}.{self.section}.{name}.title"),
                look="pills",
                label_visibility="collapsed",
                width="content",
            )
            if part.beside:
                part.beside(context)

    def formula(self, context: Any) -> str:
        """Draw the part's formula, and below it why it is so."""
        part, latex = self.shown, self.shown.formula
        if callable(latex):
            latex = latex(context)
        elif latex:
            st.latex(latex)
        if has_text(why := f"{self.page}.{self.section}.{part.name}.why"):
            st.markdown(context.t(why))
        return latex

    def reads(self, answer_of: Callable[[Part], Reads]) -> Reads:
        """Return whether the section reads a choice: if its parts differ, whether the chosen one does."""
        answers = [answer_of(part) for part in self.parts]
        if all(answer == answers[0] for answer in answers):
            return answers[0]

        def of_shown(model: LoadedModel | None) -> bool:
            answer = answer_of(self.shown)
            return answer if isinstance(answer, bool) else answer(model)

        return of_shown
