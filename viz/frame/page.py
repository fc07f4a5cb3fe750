"""A page is an ordered list of named sections. One is open at a time; only that one is computed and sent.

Above the picture stand the tabs, then the text and the chips (:mod:`viz.frame.inputs`). A section is its picture and
what it shows; formula, checks, code and downloads are folded into one footer.
"""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.errors import ModelError
from viz.frame import modes
from viz.frame.checks import Check, choice_checks
from viz.frame.compute import read
from viz.frame.connection import visit
from viz.frame.connection.fragments import fragment
from viz.frame.examples import examples, what_is_read
from viz.frame.header.footer import footer
from viz.frame.header.tabs import draw_tabs, draw_views
from viz.frame.inputs import Choice, Controls, PageInputs, read_inputs
from viz.frame.lazy import without_results
from viz.frame.modes import figure_facts, say
from viz.frame.scene import Scene, cuts, open_scene, provenance, say_error, unsupported_part
from viz.frame.section import Reads, Section, standalone, with_views
from viz.frame.shared import HEAD, LANG, LAYER, MODEL, SECTION, TEXT, Sections
from viz.models import registry
from viz.models.layout import LoadedModel
from viz.params import Parameter, link
from viz.params.session import SCENE, of_session
from viz.text import Translate, translator

__all__ = ["ALL", "Page", "Reads", "Section", "standalone", "with_views"]

ALL = "all"
"""``section=all`` in the link: every section, one below the other, for printing and searching."""
EVERY_CONTROL = Controls()


def _has_own_numbers(section: Section) -> bool:
    return not (section.reads_text and (section.reads_mask or section.reads_layer))


def _any_reads(reads: Iterable[Reads], model: LoadedModel | None) -> bool:
    return any(answer if isinstance(answer, bool) else answer(model) for answer in reads)


def as_asked(asked: Any) -> Any:
    """The context of a page that needs none but the scene, and the scene of one that needs all that was asked for."""
    return asked


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: its sections and their shared context.

    Args:
        name: of its folder and its texts: ``<page>.title`` and ``.lead``.
        sections: in the order they are read; the first is open at first.
        context: makes what every section is handed, and draws the controls they share.
        controls: which of the controls that all pages share it shows.
        about: says where its numbers come from, behind the chip of the source.
        scene_of: what the scene is opened on, if not on all that was asked: a page that reads more than a scene can
            hold opens it on the beginning.
        checks_source: False where a page shows another source than the scene's, or none, and checks that itself.
        knows: which of "sink", "gate", "latent" and "values" its sections reckon with, where a model's layers have one;
            other models' layers are shown by every page.
        reads_bare: whether a link that asks for nothing opens it on a text in the user's language.
    """

    name: str
    sections: tuple[Section, ...]
    context: Callable[[Scene], Any] = as_asked
    controls: Controls = EVERY_CONTROL
    about: Callable[[Scene], None] = provenance
    scene_of: Callable[[PageInputs], PageInputs] = as_asked
    checks_source: bool = True
    knows: tuple[str, ...] = ()
    reads_bare: bool = False

    def draw(self) -> None:
        """Draw the page, with the section that is open."""
        t = translator(LANG.value)
        open_sections = self._open_sections()
        note = self.head(t, open_sections)
        try:
            draw = partial(self._draw_scene, t, open_sections, read_inputs(t, self._controls(open_sections)))
            if modes.shows("fragments"):
                # Where the text changes, what stands around it is not drawn again.
                fragment(SCENE, draw, partial(say_error, t), self.finish)
            else:
                draw()
        except ModelError as error:
            say_error(t, error)
        self.finish()
        say_refused(t, note)

    def _draw_scene(self, t: Translate, open_sections: tuple[Section, ...], inputs: PageInputs) -> None:
        """Draw all that depends on the text: its box, what it is read as, the page's own chips, and the sections."""
        inputs = inputs.read_text(t)
        # However much stands in it, the sections keep their places on the page.
        above = st.container(key="above")
        try:
            scene = open_scene(t, self.scene_of(inputs))
        except ValueError as error:
            if isinstance(error, ModelError):
                raise
            say_error(t, error)
            return
        if inputs.source_chip:
            with inputs.source_chip:
                self.about(scene)
        # Other pages have a note of their own on what was read and cut.
        if self.scene_of is as_asked and inputs.source_chip:
            with above:
                cuts(scene)
        apart = [section.texts for section in open_sections if _has_own_numbers(section)]
        figure_facts.note_source(t, scene.choice.source, apart)
        with above:
            context = self.context(scene)
        self._draw_sections(scene, open_sections, context)
        with above:
            figure_facts.draw()

    def _controls(self, open_sections: tuple[Section, ...]) -> Controls:
        """The page's controls, less those that the open section does not read."""
        alone = open_sections[0] if len(open_sections) == 1 else None
        reads_text = tuple(section.reads_text for section in open_sections)
        of_model = [section for section in open_sections if section.reads_text or section.reads_model]
        return replace(
            self.controls,
            default_model=(alone and alone.default_model) or self.controls.default_model,
            default_text=(alone and alone.default_text) or self.controls.default_text,
            text=any(reads_text)
            if all(isinstance(reads, bool) for reads in reads_text)
            else partial(_any_reads, reads_text),
            model=bool(of_model),
            mask=self.controls.mask and any(section.reads_mask for section in open_sections),
            layer_chip=partial(_any_reads, tuple(section.reads_layer for section in of_model)),
            head_chip=partial(_any_reads, tuple(section.reads_head for section in of_model)),
        )

    def head(self, t: Translate, open_sections: tuple[Section, ...] = ()) -> DeltaGenerator:
        """Draw the title, the tabs and, on the first section, the page's lead; return the place for notes."""
        if modes.shows("title"):
            st.title(t(f"{self.name}.title"), anchor=False)
        for mode in modes.of_run():
            mode.below_title()
        top = st.container(key="tabs_and_views", horizontal=True, gap="small", vertical_alignment="bottom")
        with top:
            self._tabs(t)
            if len(open_sections) == 1 and modes.shows("views"):
                draw_views(t, self.name, open_sections[0])
        is_first = [section.name for section in open_sections[:1]] == [section.name for section in self.sections[:1]]
        if is_first and modes.shows("page_lead"):
            say(t(f"{self.name}.lead"))
        return top

    def _open_sections(self) -> tuple[Section, ...]:
        """The section of the link, or the first; of one with several views the one that is open."""
        section_name = SECTION.read(Sections(self.name, [*(section.name for section in self.sections), ALL]))
        is_whole = section_name == ALL and modes.shows("all_sections")
        matches = [section for section in self.sections if section.name == section_name]
        sections_to_show = self.sections if is_whole else matches or self.sections[:1]
        return tuple(chain.from_iterable(section.opened_views(all_views=is_whole) for section in sections_to_show))

    def _draw_sections(self, scene: Scene, open_sections: tuple[Section, ...], context: Any) -> None:
        for mode in modes.of_run():
            mode.before_sections(scene, open_sections, context)
        is_alone = len(open_sections) == 1
        for section in open_sections:
            with st.container(key=f"section_{section.texts}"):
                # Of one section the name is in the bar already: the style sheet hides what stands here by itself.
                with nullcontext() if is_alone else st.container():
                    st.header(scene.t(f"{self.name}.{section.texts}.title"), anchor=False)
                draw = partial(self._draw_below_title, scene, section, context, may_be_fragment=is_alone)
                modes.draw_through("section", scene.t, section, draw=draw)

    def _draw_below_title(self, scene: Scene, section: Section, context: Any, *, may_be_fragment: bool) -> None:
        """The lead of a section, and the section itself, in a fragment of its own if it may be one."""
        if modes.shows("section_lead"):
            say(modes.lead_of(scene.t, self.name, section.texts))
        draw = partial(self._draw_section, scene.t, section, scene.choice, is_alone=may_be_fragment)
        if section.is_fragment and may_be_fragment and modes.shows("fragments"):
            bare = without_results(context)
            fragment(section.texts, lambda: draw(without_results(bare)), partial(say_error, scene.t), self.finish)
        else:
            draw(context)

    def _draw_section(
        self, t: Translate, section: Section, choice: Choice | None, context: Any, *, is_alone: bool
    ) -> None:
        """The picture of a section and what it shows, and the footer: where there is a title, beside that."""
        if choice and not _has_own_numbers(section) and (problem := self._misfit(choice, section)):
            say_error(t, problem)
            return
        checks: list[Check] = []
        place = st.container(key="actions") if is_alone and modes.shows("title") else nullcontext()
        modes.draw_through("picture", t, section, draw=lambda: checks.extend(section.draw(context) or ()))
        if checks and choice and self.checks_source and not _has_own_numbers(section):
            checks += choice_checks(choice, any_layer=not self.controls.layer)
        if modes.shows("footer"):
            with place:
                footer(t, self.name, section, context, checks)

    def _misfit(self, choice: Choice, section: Section) -> ModelError | None:
        """Return why a section cannot show the layer that is chosen: a sink, a gate, or short vectors."""
        if choice.source.kind != "model":
            return None
        part = unsupported_part(read(choice.source).calls[choice.layer], (*self.knows, *section.knows))
        return ModelError(part, model=choice.source.model) if part else None

    def finish(self) -> None:
        """Finish a run, after all parameters are declared: decide which of them the link names at their defaults."""
        name_text_in_link(reads_bare=self.reads_bare)

    def _tabs(self, t: Translate) -> None:
        if len(self.sections) < 2:
            return
        is_whole = SECTION.value == ALL
        main = [section.name for section in self.sections if not section.in_menu]
        more = [section.name for section in self.sections if section.in_menu]
        titles = {name: t(f"{self.name}.{name}.title") for name in (*main, *more)} | {ALL: t("page.all")}
        draw_tabs(t, main + [ALL] * is_whole, more, titles)


def say_refused(t: Translate, note: DeltaGenerator) -> None:
    """Say which parts of the link were not believed, once every control has read it."""
    if problem := modes.refusal(t):
        note.error(problem)
    if invalid_names := link.take_invalid_names():
        note.info(t("note.refused", names=", ".join(invalid_names)))


def name_text_in_link(*, reads_bare: bool) -> None:
    """Have the link, which leaves out defaults, name the text or model that it would open in the user's language."""
    record, lang = of_session(), LANG.value
    record.always = frozenset()
    current = link.link()
    # The same as it is shared has no options of the view.
    shared = {name: current[name] for name in current.keys() - modes.parameters()}
    if any(visit.is_for_reader(form, lang, reads_bare=reads_bare) for form in (current, shared)):
        page_defaults, choices = record.declared, what_is_read(lang)
        defaults = {TEXT.name: examples()[0].text, MODEL.name: registry.entries()[0].id}
        names = [name for name in (*defaults, LAYER.name, HEAD.name) if name in choices.keys() & page_defaults.keys()]
        # A sentence and its model do not stay on a page that has its own.
        if TEXT.name in choices:
            names = [name for name in names if page_defaults[name] == defaults.get(name, page_defaults[name])]
        record.always = frozenset([name for name in names if Parameter(name).value != choices[name]][:1])
