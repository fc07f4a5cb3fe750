"""Sections of several parts, of which a switch shows one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.frame.checks import Check
from viz.frame.modes import say
from viz.frame.page import ALL, Reads, Section
from viz.frame.shared import SECTION
from viz.models.layout import LoadedModel
from viz.params import Choice
from viz.text import has_text


def is_whole_page() -> bool:
    """Return True if every section is on the page, one below the other: then so is every part, and no switch."""
    return bool(SECTION.value == ALL)


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
    page: str,
    name: str,
    parameter: str,
    parts: Sequence[Part],
    *,
    is_below: bool = False,
    share_controls: bool = False,
    **options: Any,
) -> Section:
    """Return a section that shows one of its parts, with that part's checks, code and formula.

    Args:
        page: the name of the page.
        name: of the section.
        parameter: which part is shown, in the link; the first at first.
        parts: in the order of the switch.
        is_below: whether the switch stands below the picture, where that has controls of its own on top.
        share_controls: whether the parts have a control in common, which the whole page cannot have twice.
        options: more for the section.
    """
    parts_section = _Parts(
        page=page,
        section=name,
        parameter=parameter,
        parts=tuple(parts),
        is_below=is_below,
        share_controls=share_controls,
    )
    return Section(
        name,
        parts_section.draw,
        code=lambda _: tuple(function for part in parts_section.visible for function in part.code),
        formula=parts_section.formula,
        reads_layer=parts_section.reads(lambda part: part.reads_layer),
        reads_head=parts_section.reads(lambda part: part.reads_head),
        **options,
    )


@dataclass(frozen=True, kw_only=True)
class _Parts:
    page: str
    section: str
    parameter: str
    parts: tuple[Part, ...]
    is_below: bool
    share_controls: bool

    @property
    def _names(self) -> list[str]:
        return [part.name for part in self.parts]

    @property
    def _open_sections(self) -> Choice:
        return Choice(self.parameter, among=self._names)

    @property
    def shown(self) -> Part:
        """The part that is chosen."""
        return self.parts[self._names.index(self._open_sections.read())]

    @property
    def visible(self) -> tuple[Part, ...]:
        """The chosen part; where the whole page is shown, all of them."""
        return self.parts if is_whole_page() and not self.share_controls else (self.shown,)

    def draw(self, context: Any) -> list[Check]:
        """Draw the switch and the part, and return its checks."""
        if not self.is_below:
            self._switch(context)
        checks: list[Check] = []
        with st.container(key=f"part_{self.section}"):  # so that what stands below keeps its place
            for part in self.visible:
                checks += part.draw(context) or ()
                if has_text(sentence := f"{self.page}.{self.section}.{part.name}.says"):
                    say(context.t(sentence))
        if self.is_below:
            self._switch(context)
        return checks

    def _switch(self, context: Any) -> None:
        t = context.t  # the context itself would stay with the widget
        with st.container(key=f"parts_{self.section}", horizontal=True, gap="medium", vertical_alignment="center"):
            page, section = self.page, self.section
            self._open_sections.pills(
                t(f"{page}.{section}.switch"),
                says=lambda name: t(f"{page}.{section}.{name}.title"),
                label_visibility="collapsed",
                width="content",
            )
            for part in self.visible:
                if part.beside:
                    part.beside(context)

    def formula(self, context: Any) -> str:
        """Draw the part's formula, and below it why it is so."""
        formulas = []
        for part in self.visible:
            latex = part.formula
            if callable(latex):
                latex = latex(context)
            elif latex:
                st.latex(latex)
            formulas.append(latex)
            if has_text(why := f"{self.page}.{self.section}.{part.name}.why"):
                st.markdown(context.t(why))
        return " ".join(formulas)

    def reads(self, answer_of: Callable[[Part], Reads]) -> Reads:
        """Return True if the section reads a choice: if its parts differ, whether the chosen one does."""
        answers = [answer_of(part) for part in self.parts]
        if all(answer == answers[0] for answer in answers):
            return answers[0]

        def of_shown(model: LoadedModel | None) -> bool:
            open_answers = map(answer_of, self.visible)
            return any(answer if isinstance(answer, bool) else answer(model) for answer in open_answers)

        return of_shown
