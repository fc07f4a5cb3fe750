"""A page is an ordered list of named sections. One is open at a time; only that one is computed and sent.

Above the picture stand the text and the chips (:mod:`viz.frame.choice`), then the names of the sections. A section is
its picture and what it shows; formula, checks, code and downloads are folded into one footer.
"""

import inspect
import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from logging import WARNING, getLogger
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.errors import ModelError
from viz.frame import lesson, state, view
from viz.frame.checks import Check, choice_checks
from viz.frame.choice import Asked, Choice, Controls, choose
from viz.frame.connection.fragments import fragment
from viz.frame.format import number
from viz.frame.header.tabs import draw_tabs
from viz.frame.lazy import without_results
from viz.frame.scene import Scene, cuts, open_scene, provenance, say_error
from viz.frame.share import figure_menu
from viz.frame.terms.letters import translate_letters
from viz.frame.terms.marks import say
from viz.frame.view.paper import room_to_write
from viz.models.layout import LoadedModel
from viz.text import Translate, has_text, translator

if TYPE_CHECKING:
    from viz.lessons.subject import Subject

ALL = "all"
"""``section=all`` in the link: every section, one below the other, for printing and searching."""
EVERY_CONTROL = Controls()
_log = getLogger(__name__)

Reads = bool | Callable[[LoadedModel | None], bool]
"""Whether a section reads a choice; or whether it does so with a model's own heads (None: with seeded ones)."""


@dataclass(frozen=True)
class Section:
    """One idea: a picture, what it shows, and the checks that it is so.

    Its title and its one-sentence lead are the texts ``<page>.<name>.title`` and ``.lead``.

    Args:
        name: in the link, in the texts.
        draw: draws it from the page's context, and returns its live checks, if it has any.
        code: the functions that ran, shown as they are.
        formula: LaTeX, or what draws it and gives it back; below it stands the text ``<page>.<name>.why``, if there is
            one, and for whoever asks what other books call its letters.
        downloads: draws what can be taken away.
        parameters: what an old link, without ``section=``, may carry if it means this section: "name" or "name=value".
        in_menu: whether it has no tab, and is opened from the menu *More*.
        reads_text: False where neither text nor model would change anything: then the box and the chip are not there.
        reads_mask: False where the page's mask would change nothing: then its chip is not there.
        reads_layer: the same of the layer.
        reads_head: the same of the head.
        subject: of a section with numbers of its own, what a lesson may ask of them; else it is the page's text.
        is_fragment: False for a section that draws a chip, above itself: a control of it has the whole page drawn.
    """

    name: str
    draw: Callable[[Any], Iterable[Check] | None]
    code: tuple[Callable[..., Any], ...] = ()
    formula: str | Callable[[Any], str] = ""
    downloads: Callable[[Any], None] | None = None
    parameters: tuple[str, ...] = ()
    in_menu: bool = False
    reads_text: bool = True
    reads_mask: bool = True
    reads_layer: Reads = True
    reads_head: Reads = True
    subject: Callable[[Any], "Subject"] | None = None
    is_fragment: bool = True


standalone = partial(Section, reads_text=False, reads_mask=False, reads_layer=False, reads_head=False)
"""A section with numbers of its own, which no mask, no layer and no head changes."""


def _has_own_numbers(section: Section) -> bool:
    return not (section.reads_mask or section.reads_layer)


def _any_reads(reads: Iterable[Reads], model: LoadedModel | None) -> bool:
    return any(answer if isinstance(answer, bool) else answer(model) for answer in reads)


def the_scene(scene: Scene) -> Scene:
    """The context of a page that needs none but the scene."""
    return scene


def as_asked(asked: Asked) -> Asked:
    """The scene of a page that needs all that was asked for."""
    return asked


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: its sections, and what they stand on.

    Args:
        name: of its folder and its texts: ``<page>.title`` and ``.lead``.
        sections: in the order they are read; the first is open at first.
        context: makes what every section is handed, and draws the controls they share.
        controls: which of the controls that all pages share it shows.
        about: says where its numbers come from, behind the chip of the source.
        scene_of: what the scene is opened on, if not on all that was asked: a page that reads more than a scene can
            hold opens it on the beginning.
        checks_source: False where a page shows another source than the scene's, or none, and checks that itself.
    """

    name: str
    sections: tuple[Section, ...]
    context: Callable[[Scene], Any] = the_scene
    controls: Controls = EVERY_CONTROL
    about: Callable[[Scene], None] = provenance
    scene_of: Callable[[Asked], Asked] = as_asked
    checks_source: bool = True

    def draw(self) -> None:
        """Draw the page, with the section that is open."""
        t = translator(st.session_state["lang"])
        opened = self._opened()
        note = self.head(t)
        try:
            asked = choose(t, self._controls(opened))
            scene = open_scene(t, self.scene_of(asked))
        except ValueError as error:
            say_error(t, error)
        else:
            with asked.source_chip:
                self.about(scene)
            if self.scene_of is as_asked:  # else the page says what it read, and what it left out
                cuts(scene)
            self._note_figures(scene, opened)
            try:
                self._draw_sections(scene, opened)
            except ModelError as error:  # too busy, or what was asked for failed: what was typed is still there
                say_error(t, error)
        say_refused(t, note)

    def _controls(self, opened: tuple[Section, ...]) -> Controls:
        """The page's controls, less those that the open section does not read."""
        return replace(
            self.controls,
            mask=self.controls.mask and any(section.reads_mask for section in opened),
            layer_chip=partial(_any_reads, tuple(section.reads_layer for section in opened)),
            head_chip=partial(_any_reads, tuple(section.reads_head for section in opened)),
        )

    def head(self, t: Translate) -> DeltaGenerator:
        """The title and what the page is about; below them, the place for what has to be said of the link."""
        is_bare = view.current().is_bare
        if not is_bare:  # there the page around it says what it is, or its section
            st.title(t(f"{self.name}.title"), anchor=False)
        if not lesson.keep_place() and not is_bare:  # a step says itself what to look at
            say(t(f"{self.name}.lead"))
        return st.container(key="note")

    def _opened(self) -> tuple[Section, ...]:
        """The section of the link; of an old link, the one whose parameters it carries."""
        state.belong_to(self.name, "section")
        names = [section.name for section in self.sections]
        if not state.is_known("section"):
            carried = (section.name for section in self.sections if any(map(state.asked, section.parameters)))
            state.put("section", next(carried, names[0]))
        chosen = state.choice("section", names[0], [*names, ALL])
        if chosen == ALL:
            return self.sections[:1] if view.current().is_bare else self.sections
        return tuple(section for section in self.sections if section.name == chosen)

    def _draw_sections(self, scene: Scene, opened: tuple[Section, ...]) -> None:
        context = self.context(scene)
        if len(self.sections) > 1:
            self._tabs(scene.t, whole=st.session_state["section"] == ALL)
        is_covered = lesson.ask(scene, opened, context)
        for section in opened:
            with st.container(key=f"section_{section.name}"):
                # Of one section the name is in the bar already, but there it is no title to go to.
                looked_at = view.current()
                is_said = len(opened) == 1 and not looked_at.present and not looked_at.is_paper
                with st.container(key="title_unseen") if is_said else nullcontext():
                    st.header(scene.t(f"{self.name}.{section.name}.title"), anchor=False)
                if is_covered:
                    lesson.cover()
                    continue
                if not lesson.is_asking():
                    say(view.lead_of(scene.t, self.name, section.name))
                draw = partial(self._draw_section, scene.t, section, scene.choice)
                if section.is_fragment and not (len(opened) > 1 or lesson.current() or looked_at.is_bare):
                    held = without_results(context)
                    fragment(section.name, lambda: draw(without_results(held)), partial(say_error, scene.t))  # noqa: B023
                else:  # what stands around it says something of what is chosen in it
                    draw(context)

    def _draw_section(self, t: Translate, section: Section, choice: Choice | None, context: Any) -> None:
        """The picture of a section and what it shows, and the footer."""
        with room_to_write(t, section.name):
            checks = list(section.draw(context) or ())
        if checks and choice and self.checks_source and not _has_own_numbers(section):
            checks += choice_checks(choice, any_layer=not self.controls.layer)
        footer(t, self.name, section, context, checks)
        self.finish()

    def finish(self) -> None:
        """What is to be done after all parameters were declared, in every run: nothing on most pages."""

    def _note_figures(self, scene: Scene, opened: tuple[Section, ...]) -> None:
        """What stands below a picture that is taken away: the model and the text, if it has to do with them."""
        apart = [section.name for section in opened if _has_own_numbers(section)]
        figure_menu.note_source(scene.t, scene.choice.source, apart)

    def _tabs(self, t: Translate, *, whole: bool) -> None:
        main = [section.name for section in self.sections if not section.in_menu]
        more = [section.name for section in self.sections if section.in_menu]
        draw_tabs(
            t, main + [ALL] * whole, more, lambda name: t(f"{self.name}.{name}.title" if name != ALL else "page.all")
        )


def say_refused(t: Translate, note: DeltaGenerator) -> None:
    """Say which parts of the link were not believed, once every control has read it."""
    if problem := lesson.refusal(t):
        note.error(problem)
    if refused := state.refused():
        note.info(t("note.refused", names=", ".join(refused)))


def footer(t: Translate, page: str, section: Section, context: Any, checks: list[Check]) -> None:
    """Formula, checks, code and downloads in one row; what is opened is drawn below it, and not before."""
    why = f"{page}.{section.name}.why"
    parts = {
        "why": partial(_why, t, page, section, context),
        "checks": partial(truth, t, checks),
        "code": partial(source_code, t, *section.code),
        "downloads": partial(section.downloads or str, context),
    }
    present = bool(section.formula) or has_text(why), bool(checks), bool(section.code), section.downloads is not None
    offered = [part for part, is_there in zip(parts, present, strict=True) if is_there]
    wrong = [check for check in checks if not check.passed]
    looked_at = view.current()
    labels = {part: t(f"footer.{part}") for part in ("why", "code", "downloads")}
    labels["checks"] = t("footer.checks", passed=len(checks) - len(wrong), n=len(checks))
    opened = None
    if looked_at.is_paper:  # nothing is to be pressed there
        is_key = looked_at.print == "answers" and not lesson.current()  # a step says itself what is right
        opened = "why" if is_key and "why" in offered else None
    elif offered and not looked_at.present:
        opened = st.pills(
            t("footer.label"),
            offered,
            key=f"_footer_{section.name}",
            format_func=labels.__getitem__,
            label_visibility="collapsed",
        )
    if wrong:
        _log.log(WARNING, "checks that failed on %s, %s: %s", page, section.name, ", ".join(map(str, wrong)))
        st.error(t("truth.failed"))
        opened = "checks"
    if opened:
        parts[opened]()


def _why(t: Translate, page: str, section: Section, context: Any) -> None:
    latex = section.formula
    if callable(latex):
        latex = latex(context)
    elif latex:
        st.latex(latex)
    if has_text(why := f"{page}.{section.name}.why"):
        st.markdown(t(why))
    translate_letters(t, page, section.name, latex)


def truth(t: Translate, checks: Iterable[Check]) -> None:
    """The live checks of what a section shows, each with its number."""
    for check in checks:
        mark = "✓" if check.passed else "✗"
        off = number(check.error) if math.isfinite(check.error) else str(check.error)
        st.markdown(f"{mark} {t(check.key, **check.values)} — {t('truth.off', off=off)}")


_source = cache(inspect.getsource)


def source_code(t: Translate, *functions: Callable[..., Any]) -> None:
    """The code that ran, read from the running modules."""
    st.caption(t("code.lead"))
    for function in functions:
        st.code(_source(function), language="python")
