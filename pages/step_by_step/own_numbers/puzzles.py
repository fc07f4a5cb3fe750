"""Three puzzles: change some numbers until a head does the task. The verdict is measured on the trace."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import streamlit as st

from pages.step_by_step.own_numbers.editor import edit
from pages.step_by_step.own_numbers.example import OwnExample, by_loops, checks, load_presets_file
from pages.step_by_step.own_numbers.numbers import Numbers, from_code, is_code, of_matrices, to_code
from pages.step_by_step.three_words import HasLanguage
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
MIN_FOCUS, PREVIOUS, COPY_OFF, MIN_ADDED, MAX_REMAINDER = 0.99, 0.95, 0.1, 0.5, 0.05
"""Limits of the three verdicts: the least weight of word 2 on word 1; the least weight of each word on the one before
and the largest error of a copied number; the least that each head must add and the most that may remain of the sum."""


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """Initial numbers, a solution, and the names of the editable matrices."""

    start: Numbers
    solution: Numbers
    editable: tuple[str, ...]

    def allows(self, code: Any) -> bool:
        """Return True if a link's numbers have the puzzle's sizes, and its values where they are not editable."""
        if not is_code(code):
            return False
        numbers = from_code(code)
        if (numbers.shapes, numbers.n_heads) != (self.start.shapes, self.start.n_heads):
            return False
        fixed = set(self.start.shapes) - set(self.editable)
        return all(numbers.matrices[name].equal(self.start.matrices[name]) for name in fixed)


@cache
def puzzles() -> dict[str, Puzzle]:
    """Puzzles of ``assets/own_numbers.toml`` by name."""
    return {
        name: Puzzle(
            start=of_matrices(load_presets_file()["puzzle"][name], load_presets_file()["puzzle"][name]["n_heads"]),
            solution=of_matrices(
                load_presets_file()["puzzle"][name] | load_presets_file()["puzzle"][name]["solution"],
                load_presets_file()["puzzle"][name]["n_heads"],
            ),
            editable=tuple(load_presets_file()["puzzle"][name]["editable"]),
        )
        for name in PUZZLES
    }


def verdict(name: str, trace: MultiHeadTrace) -> Verdict:
    """Measure a puzzle's condition on the trace."""
    measures: dict[str, Callable[[], Verdict]] = {
        "only_one": lambda: check_weight(trace.weights[0], 1, 0, least=MIN_FOCUS),
        "previous": lambda: check_copies_previous(
            trace.weights[0], trace.head_outputs[0], trace.x, least=PREVIOUS, off=COPY_OFF
        ),
        "cancel": lambda: check_cancellation(trace.contributions, least=MIN_ADDED, most=MAX_REMAINDER),
    }
    return measures[name]()


def numbers_of(name: str) -> Text:
    """Return the parameter that holds a puzzle's numbers."""
    return Text(f"puzzle_{name}", to_code(puzzles()[name].start), allows=puzzles()[name].allows)


def draw(context: HasLanguage) -> list[Check]:
    """Draw the list of puzzles, the task, the verdict, the numbers, a hint and a solution."""
    t = context.t
    # The link holds the numbers of all three, so that a solved puzzle stays solved.
    for name in PUZZLES:
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
    result = verdict(name, example.trace)
    task_column, result_column = st.columns(2, vertical_alignment="center")
    with task_column:
        say(t(f"step_by_step.puzzles.{name}", query=example.words[1], key=example.words[0]))
    with result_column, st.container(key="verdict"):
        (st.success if result.is_solved else st.info)(sentence(t, name, result, example.words))
    edit(t, example, numbers_of(name), PUZZLE_AT, puzzle.editable)
    _progress(t)
    return [*checks(example), _check_verdict(name, example, result)]


def _example(t: Translate, name: str) -> OwnExample:
    numbers = from_code(numbers_of(name).value)
    return OwnExample(words=tuple(t("step_by_step.puzzles.words").split("|")[: numbers.n]), numbers=numbers)


def _title(t: Translate, name: str) -> str:
    return t(f"step_by_step.puzzles.title_{name}")


def sentence(t: Translate, name: str, result: Verdict, words: tuple[str, ...]) -> str:
    """Return the verdict as a sentence with the measured values."""
    key = f"{name}_{result.missing or 'solved'}"
    # Enough digits that a value just below the limit does not read like the limit.
    digits = next((d for d in range(3, 9) if number(result.found, d) != number(result.wanted, d)), 9)
    values = {"found": number(result.found, digits), "wanted": number(result.wanted, 3), "head": result.place}
    return t(f"step_by_step.puzzles.{key}", word=words[result.place], before=words[result.place - 1], **values)


def _progress(t: Translate) -> None:
    """Write the number and the titles of the solved puzzles."""
    solved = [_title(t, name) for name in PUZZLES if verdict(name, _example(t, name).trace).is_solved]
    if solved:
        names = t("step_by_step.puzzles.between").join(solved)
        st.caption(t("step_by_step.puzzles.progress", n=len(solved), all=len(PUZZLES), names=names), width="content")


def _help(t: Translate, name: str) -> None:
    """Draw a hint in a popover, and buttons for the solution and a restart, which Back undoes."""
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


def _check_verdict(name: str, example: OwnExample, result: Verdict) -> Check:
    """Compare the verdict and its measure with loops over the numbers."""
    missing, measure = measure_by_loops(name, example)
    off = abs(measure - result.found) if missing == result.missing else float("inf")
    return check("step_by_step.puzzles.check_verdict", off, 1e-6 * (1 + measure))


def measure_by_loops(name: str, example: OwnExample) -> tuple[str, float]:
    """Return the first condition that fails and its measure, without torch or the core."""
    (weights, *_), concat, output = by_loops(example)
    if name == "only_one":
        return "" if weights[1][0] >= MIN_FOCUS else "weight", weights[1][0]
    if name == "previous":
        x, later = example.inputs["x"].tolist(), range(1, example.numbers.n)
        if (least := min(weights[i][i - 1] for i in later)) < PREVIOUS:
            return "weight", least
        off = max(abs(a - b) for i in later for a, b in zip(concat[i], x[i - 1], strict=True))
        return "" if off <= COPY_OFF else "copy", off
    d_k, columns = example.numbers.d_k, list(zip(*example.inputs["w_o"].tolist(), strict=True))
    added = []
    for head in range(example.numbers.n_heads):
        part = slice(head * d_k, (head + 1) * d_k)
        terms = [sum(a * b for a, b in zip(row[part], w[part], strict=True)) for row in concat for w in columns]
        added.append(max(map(abs, terms)))
    if min(added) < MIN_ADDED:
        return "head", min(added)
    remainder = max(abs(value) for row in output for value in row)
    return "" if remainder <= MAX_REMAINDER else "sum", remainder
