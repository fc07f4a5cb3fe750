"""A lesson over the pages: its bar below the title, and the cells covered while a question is open.

Without a lesson in the link nothing of it is imported, computed or sent.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from viz.frame import view
from viz.frame.modes import NOTHING, Draw, Mode, PagePart, PageRun
from viz.modes.lesson.parameters import LESSON, LESSON_STEP, OWN_LESSON
from viz.params.memory import Remembered

if TYPE_CHECKING:
    from viz.frame.modes.steps import Walk
    from viz.frame.scene import Scene
    from viz.frame.section import Section
    from viz.modes.lesson.running import Running
    from viz.text import Translate

_ON: "Remembered[Running | None]" = Remembered("_lesson_on", default=None)
current = _ON.read
"""Return the lesson that is on, at its step."""


class LessonMode(Mode):
    """The lesson of the link, at one of its steps; the first page has none."""

    opened_by = (LESSON, OWN_LESSON, LESSON_STEP)

    def around_page(self, run: PageRun, draw: Draw) -> None:
        """Draw the page as the step shows it; on paper, outside the sheets, all steps; without its model, a line."""
        if run.is_first:
            draw()
            return
        begin(run.page)
        lesson, view_options = current(), view.current()
        if lesson and view_options.is_paper and not view_options.embed:
            from viz.modes.lesson.sheet import sheets

            sheets(run.t, lesson)
            return
        if lesson and lesson.page == lesson.step.page and (model := lesson.missing(lesson.number)):
            from viz.modes.lesson.bar import draw_missing

            draw_missing(lesson, model)
            return
        draw()
        if (lesson := current()) and not lesson.is_drawn:
            from viz.modes.lesson.bar import elsewhere

            elsewhere(lesson)

    def below_title(self) -> None:
        """Keep a place for the bar."""
        if lesson := current():
            lesson.keep_place()

    @property
    def hides(self) -> set[PagePart] | frozenset[PagePart]:
        """Return the parts that the bar replaces, that give the answer away, or that belong to exploring afterwards."""
        lesson = current()
        if lesson is None:
            return NOTHING
        hidden: set[PagePart] = {"fragments", "inner_steps", "answers"}
        if lesson.page == lesson.step.page:
            hidden |= {"views", "page_lead"}
        if lesson.is_drawn:
            hidden.add("section_lead")
        if any(lesson.step.ask.question.values()):
            hidden.add("room_to_write")
        if not view.current().is_paper and (lesson.asks or not lesson.explores):
            hidden.add("footer")
        return hidden

    def before_sections(self, scene: "Scene", open_sections: "Sequence[Section]", context: Any) -> None:
        """Draw the step's question if its section is open."""
        lesson = current()
        if lesson and lesson.is_here([section.name for section in open_sections]):
            from viz.modes.lesson.asked import ask_here

            lesson.covers_sections = ask_here(lesson, scene, open_sections, context)

    def around_section(self, t: "Translate", section: "Section", draw: Draw) -> None:
        """Draw the section, or what stands in its place until the question is answered."""
        lesson = current()
        if lesson and lesson.covers_sections:
            from viz.modes.lesson.bar import draw_cover

            draw_cover(lesson.t, lesson.t(f"{lesson.page}.{lesson.step.section}.title"))
        else:
            draw()

    def around_picture(self, t: "Translate", section: "Section", draw: Draw) -> None:
        """Draw the picture with the open question's cells covered."""
        lesson = current()
        if lesson is None or lesson.cover is None:
            draw()
            return
        from viz.modes.lesson.covers import cover_cells

        with cover_cells(lesson.cover):
            draw()

    def refusal(self, t: "Translate") -> str:
        """Return why a teacher's own lesson in the link cannot be had."""
        if not OWN_LESSON.is_known:
            return ""
        from viz.modes.lesson.own import refusal

        return refusal(t)

    def walk(self, t: "Translate") -> "Walk | None":
        """Return the steps of the lesson."""
        lesson = current()
        if lesson is None:
            return None
        from viz.modes.lesson.presented import walk_of

        return walk_of(t, lesson)

    def step_of_view(self, t: "Translate", page: str, section: str) -> Mapping[str, Any]:
        """Return the view as a step of one's own lesson; the list of lessons is none."""
        from viz.modes.lesson.own import LIST, step_of_view

        return step_of_view(t, page, section) if page != LIST else {}


def begin(page: str) -> None:
    """Open the lesson of the link, if there is one: before anything of the page declares a parameter."""
    _ON.set(None)
    if LESSON.is_known or OWN_LESSON.is_known:
        from viz.modes.lesson.running import open_lesson

        _ON.set(open_lesson(page))


MODE = LessonMode()
