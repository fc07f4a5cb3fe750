"""Three puzzles: change some numbers until a head does what is asked for. The verdict is measured on the trace."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import streamlit as st

from pages.step_by_step.own_numbers.editor import edit
from pages.step_by_step.own_numbers.example import OwnExample, by_loops, checks, prepared
from pages.step_by_step.own_numbers.numbers import Numbers, from_code, is_code, of_matrices, to_code
from pages.step_by_step.three_words import Speaks
from viz.core.analysis.puzzles import Verdict, check_cancellation, check_copies_previous, check_weight
from viz.core.heads import MultiHeadTrace
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.params import Choice, Text
from viz.text import Translate

PUZZLES = ("only_one", "previous", "cancel")
PUZZLE = Choice("puzzle", among=PUZZLES)
PUZZLE_AT = Text("puzzle_at")
ALONE, PREVIOUS, COPY_OFF, ADDED, LEFT = 0.99, 0.95, 0.1, 0.5, 0.05
"""Of its attention that word 2 must give word 1, and each word the one before; how far a copied number may be off; the
largest number that each head must at least add, and that both together may leave."""


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """The numbers it begins with, those of a solution, and which matrices may be changed."""

    start: Numbers
    solution: Numbers
    editable: tuple[str, ...]

    def allows(self, code: Any) -> bool:
        """Whether a link's numbers have the puzzle's sizes, and are its own where they may not be changed."""
        if not is_code(code):
            return False
        numbers = from_code(code)
        if (numbers.shapes, numbers.n_heads) != (self.start.shapes, self.start.n_heads):
            return False
        fixed = set(self.start.shapes) - set(self.editable)
        return all(numbers.matrices[name].equal(self.start.matrices[name]) for name in fixed)


@cache
def puzzles() -> dict[str, Puzzle]:
    """Every puzzle of ``assets/own_numbers.toml``."""
    return {
        name: Puzzle(
            start=of_matrices(prepared()["puzzle"][name], prepared()["puzzle"][name]["n_heads"]),
            solution=of_matrices(
                prepared()["puzzle"][name] | prepared()["puzzle"][name]["solution"],
                prepared()["puzzle"][name]["n_heads"],
            ),
            editable=tuple(prepared()["puzzle"][name]["editable"]),
        )
        for name in PUZZLES
    }


def verdict(name: str, trace: MultiHeadTrace) -> Verdict:
    """What is still missing."""
    measures: dict[str, Callable[[], Verdict]] = {
        "only_one": lambda: check_weight(trace.weights[0], 1, 0, least=ALONE),
        "previous": lambda: check_copies_previous(
            trace.weights[0], trace.head_outputs[0], trace.x, least=PREVIOUS, off=COPY_OFF
        ),
        "cancel": lambda: check_cancellation(trace.contributions, least=ADDED, most=LEFT),
    }
    return measures[name]()


def numbers_of(name: str) -> Text:
    """Return the parameter that holds a puzzle's numbers."""
    return Text(f"puzzle_{name}", to_code(puzzles()[name].start), allows=puzzles()[name].allows)


def draw(context: Speaks) -> list[Check]:
    """Which puzzle, what it asks for, the verdict, the numbers; a hint and a solution for who wants them."""
    t = context.t
    for name in PUZZLES:  # what was solved stays solved: the link holds the numbers of all three
        numbers_of(name).read()
    with st.container(key="puzzle_row", horizontal=True, gap="small", vertical_alignment="center"):
        name = PUZZLE.segments(
            t("step_by_step.puzzles.which"),
            says=lambda code: _title(t, code),
            label_visibility="collapsed",
            width="content",
        )
        _help(t, name)
    puzzle, example = puzzles()[name], _example(t, name)
    found = verdict(name, example.trace)
    asked, measured = st.columns(2, vertical_alignment="center")
    with asked:
        say(t(f"step_by_step.puzzles.{name}", query=example.words[1], key=example.words[0]))
    with measured, st.container(key="verdict"):
        (st.success if found.is_solved else st.info)(sentence(t, name, found, example.words))
    edit(t, example, numbers_of(name), PUZZLE_AT, puzzle.editable)
    _progress(t)
    return [*checks(example), _check_verdict(name, example, found)]


def _example(t: Translate, name: str) -> OwnExample:
    numbers = from_code(numbers_of(name).value)
    return OwnExample(words=tuple(t("step_by_step.puzzles.words").split("|")[: numbers.n]), numbers=numbers)


def _title(t: Translate, name: str) -> str:
    return t(f"step_by_step.puzzles.title_{name}")


def sentence(t: Translate, name: str, found: Verdict, words: tuple[str, ...]) -> str:
    """The verdict as a sentence, with what was measured."""
    key = f"{name}_{found.missing or 'solved'}"
    # What is not quite enough never reads as if it were.
    digits = next((d for d in range(3, 9) if number(found.found, d) != number(found.wanted, d)), 9)
    values = {"found": number(found.found, digits), "wanted": number(found.wanted, 3), "head": found.place}
    return t(f"step_by_step.puzzles.{key}", word=words[found.place], before=words[found.place - 1], **values)


def _progress(t: Translate) -> None:
    """How many are solved, and which."""
    solved = [_title(t, name) for name in PUZZLES if verdict(name, _example(t, name).trace).is_solved]
    if solved:
        names = t("step_by_step.puzzles.between").join(solved)
        st.caption(t("step_by_step.puzzles.progress", n=len(solved), all=len(PUZZLES), names=names), width="content")


def _help(t: Translate, name: str) -> None:
    """A hint, behind a click; a solution, and the beginning again, each a click that Back undoes."""
    puzzle = puzzles()[name]
    with st.popover(t("step_by_step.puzzles.hint"), key=f"hint_{name}"):
        st.markdown(t(f"step_by_step.puzzles.hint_{name}"))
    for key, numbers in (("solution", puzzle.solution), ("again", puzzle.start)):
        st.button(
            t(f"step_by_step.puzzles.{key}"),
            key=f"{key}_{name}",
            on_click=partial(numbers_of(name).set, to_code(numbers)),
            disabled=numbers_of(name).value == to_code(numbers),
            type="tertiary",
        )


def _check_verdict(name: str, example: OwnExample, found: Verdict) -> Check:
    """What is missing, and the number the verdict stands on, by loops over the numbers."""
    missing, measured = by_loops_too(name, example)
    off = abs(measured - found.found) if missing == found.missing else float("inf")
    return check("step_by_step.puzzles.check_verdict", off, 1e-6 * (1 + measured))


def by_loops_too(name: str, example: OwnExample) -> tuple[str, float]:
    """The condition that fails first, and the number it was measured by: nothing of torch, nothing of the core."""
    (weights, *_), concat, output = by_loops(example)
    if name == "only_one":
        return "" if weights[1][0] >= ALONE else "weight", weights[1][0]
    if name == "previous":
        x, later = example.given["x"].tolist(), range(1, example.numbers.n)
        if (least := min(weights[i][i - 1] for i in later)) < PREVIOUS:
            return "weight", least
        off = max(abs(a - b) for i in later for a, b in zip(concat[i], x[i - 1], strict=True))
        return "" if off <= COPY_OFF else "copy", off
    d_k, columns = example.numbers.d_k, list(zip(*example.given["w_o"].tolist(), strict=True))
    added = []
    for head in range(example.numbers.n_heads):
        part = slice(head * d_k, (head + 1) * d_k)
        terms = [sum(a * b for a, b in zip(row[part], w[part], strict=True)) for row in concat for w in columns]
        added.append(max(map(abs, terms)))
    if min(added) < ADDED:
        return "head", min(added)
    left = max(abs(value) for row in output for value in row)
    return "" if left <= LEFT else "sum", left
