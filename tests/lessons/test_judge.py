"""Answers of users: validated, and judged."""

import math

import pytest

from viz.lessons.judge import judge, read_answer, read_number
from viz.lessons.key import Key


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.32", 0.32), ("0,32", 0.32), (".5", 0.5), ("32%", 0.32), ("32 %", 0.32), ("1/4", 0.25), ("−1.5", -1.5),
        ("+2", 2.0), ("1e-3", 0.001), (" 7 ", 7.0), ("", None), ("%", None), (".", None), ("1/0", None),
        ("nan", None), ("inf", None), ("1e999", None), ("9" * 41, None), ("1.2.3", None), ("two", None), ("１", 1.0),
    ],
)  # fmt: skip
def test_number_accepts_common_notations(text, number):
    """A number is read in every notation that people type."""
    assert read_number(text) == number


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("word", "0"), ("word", 3), ("word", -1), ("word", 0.0), ("word", False), ("word", None), ("word", [0]),
        ("option", "c"), ("option", 0), ("option", {"a": 1}), ("number", 0.5), ("number", None), ("number", ["1"]),
        ("order", "ab"), ("order", ["a"]), ("order", ["a", "a", "b"]), ("order", ["a", ["b"]]), ("order", [0, 1]),
    ],
)  # fmt: skip
def test_unreadable_answer_is_none(kind, value):
    options = [0, 1, 2] if kind == "word" else ["a", "b"]
    assert read_answer(kind, value, options) is None


def test_number_within_tolerance_is_right():
    """A number within its tolerance is right; a common mistake is recognised."""
    key = Key(right=(0.32,), traps={"that_one": 0.68, "all": 1.0}, values={"key": "animal"})
    assert judge(key, 0.33, 0.011).is_right and not judge(key, 0.34, 0.011).is_right
    reasons = [judge(key, answer, 0.011).reason for answer in (0.69, 1.0, 5.0, -math.pi)]
    assert reasons == ["that_one", "all", "other", "other"]
    assert judge(key, 5.0, 0.011).values == {"key": "animal", "given": 5.0}


def test_right_answers_are_all_accepted():
    """Every one of several right answers is accepted; a wrong one gets its reason."""
    key = Key(right=((0, 2), (1, 1)), values={"n": 2}, wrong=lambda answer: ("little", {"layer": answer[0]}))
    assert judge(key, (1, 1), 0).is_right
    verdict = judge(key, (5, 0), 0)
    assert (verdict.is_right, verdict.reason, verdict.values) == (False, "little", {"n": 2, "layer": 5})


def test_nearest_mistake_is_named():
    """Of two mistakes within the tolerance the nearer one is the one that was made."""
    key = Key(right=(1.0,), traps={"nothing": 0.0, "as_little": 0.0067})
    assert [judge(key, number, 0.01).reason for number in (0.0, 0.0067, 0.003)] == ["nothing", "as_little", "nothing"]
