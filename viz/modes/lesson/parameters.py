"""The parameters of the link that open a lesson."""

from viz.params import Choice, Int, Text

LESSON = Choice("lesson", among=lambda names: ("", *names))
OWN_LESSON = Text("own_lesson")
"""A teacher's own lesson, all of it."""
LESSON_STEP = Int("lesson_step", 1, low=1, high=lambda lesson: len(lesson.steps))
