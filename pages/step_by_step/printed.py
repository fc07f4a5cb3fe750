"""The browser view of matrices with numbers to explain and edit, shared by both examples."""

from viz import limits
from viz.components.kinds import Fields, Integer, Many, Optional, Real, Text
from viz.components.view import View
from viz.text import Translate

WORDS = ("number", "word", "choose", "problem")
FILM = ("play", "pause", "next", "scrub", "place", "speed")
LARGEST = max(limits.HAND_NUMBER, limits.OWN_NUMBER)
CODE = Text(20)
"""The name of a matrix, of a letter or of a place in a matrix."""
MATRIX_VIEW = View(
    "step_by_step/three_words",
    sends={
        "chosen": Fields(at=Optional(CODE), cell=Optional(Many(Integer(), 2, 2)), letter=Optional(CODE)),
        "edited": Fields(matrix=CODE, row=Integer(), column=Integer(), value=Real(-LARGEST, LARGEST)),
        "renamed": Fields(row=Integer(), word=Text(limits.HAND_CHARACTERS)),
    },
)


def words_of(t: Translate, names: tuple[str, ...] = WORDS) -> dict[str, str]:
    """Return the view's texts."""
    return {name: t(f"step_by_step.hand_{name}") for name in names}
