"""A teacher's own lesson from a link: a round trip, and refusals of anything else."""

import base64
import zlib
from copy import deepcopy
from typing import Any

import pytest

from viz import limits
from viz.lessons.custom_lesson import checked, own_lesson, packed
from viz.lessons.lesson import OPEN, OwnLessonError

QUESTION = "Which <b>word</b> does {it} look at? **$x$**"
TABLE: dict[str, Any] = {
    "title": "看 & see",
    "step": [
        {
            "page": "heads",
            "section": "all_heads",
            "parameters": {"text": 'a "b"\n\\c 😀', "layer": "3"},
            "covers": True,
            "title": "One",
            "ask": {"question": QUESTION},
        },
        {
            "page": "masks",
            "section": "editor",
            "parameters": {},
            "covers": True,
            "title": "",
            "ask": {"question": ""},
        },
    ],
}


def squeezed(raw: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return "1" + base64.urlsafe_b64encode(packer.compress(raw) + packer.flush()).decode().rstrip("=")


def refusal(read: Any, data: Any) -> str:
    with pytest.raises(OwnLessonError) as error:
        read(data)
    return error.value.code


def test_link_returns_lesson_unchanged():
    lesson = own_lesson(packed(TABLE))
    first, second = lesson.steps
    assert lesson.title == {"en": "看 & see", "zh": "看 & see"}
    assert (first.page, first.section, first.shows["zh"]) == ("heads", "all_heads", TABLE["step"][0]["parameters"])
    assert (first.ask.kind, first.ask.question["en"], first.covers) == (OPEN, QUESTION, True)
    assert not second.covers, "where nothing is asked nothing would uncover it"
    assert own_lesson(packed(TABLE)).name == lesson.name != own_lesson(packed(TABLE | {"title": "x"})).name


def test_step_keeps_parameters_of_page():
    """No step changes how a page is looked at; what is checked is left as it was."""
    parameters = {"layer": "3", "present": "1", "lesson": "ten_minutes"}
    (step,) = checked({"step": [{"page": "heads", "section": "all_heads", "parameters": parameters}]})["step"]
    assert step["parameters"] == {"layer": "3"}
    assert checked(deepcopy(TABLE)) == TABLE


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("1" + "A" * limits.OWN_LESSON_LINK, "large"),
        (squeezed(b'{"title":'), "broken"),
        (squeezed(b"1" * 6_000), "broken"),
        (squeezed(b"\xff"), "broken"),
        (squeezed(b"[]"), "broken"),
        (packed(TABLE)[:-9], "broken"),
        ("2" + packed(TABLE)[1:], "broken"),
        ("1é", "broken"),
        ("1", "broken"),
        (squeezed(b"{}"), "steps"),
    ],
)
def test_invalid_lesson_is_refused(code, expected):
    assert len(code) < limits.OWN_LESSON_LINK or expected == "large"
    assert refusal(own_lesson, code) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"step": []}, "steps"),
        ({"step": TABLE["step"] * (limits.OWN_LESSON_STEPS // 2 + 1)}, "steps"),
        ({"title": "x" * (limits.OWN_LESSON_TITLE + 1)}, "long"),
        ({"title": 3}, "kind"),
        ({"title": {"en": "x"}}, "kind"),
        ({"knows": "x"}, "unknown"),
        ({"step": [3]}, "kind"),
    ],
)
def test_a_lesson_has_its_limits(change, expected):
    assert refusal(checked, TABLE | change) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"page": "../x"}, "kind"),
        ({"section": None}, "kind"),
        ({"covers": 1}, "kind"),
        ({"title": "x" * (limits.OWN_LESSON_TITLE + 1)}, "long"),
        ({"ask": {"question": "x" * (limits.OWN_LESSON_QUESTION + 1)}}, "long"),
        ({"ask": {"kind": "word", "answer": "looks_at_most"}}, "unknown"),
        ({"ask": "x"}, "kind"),
        ({"before": {}}, "unknown"),
        ({"parameters": []}, "kind"),
        ({"parameters": {"a b": "1"}}, "kind"),
        ({"parameters": {"a": []}}, "kind"),
        ({"parameters": {"a": True}}, "kind"),
        ({"parameters": {"a": 3}}, "kind"),
        ({"parameters": {"a": "x" * (limits.CHARACTERS + 1)}}, "long"),
        ({"parameters": {f"a{n}": "1" for n in range(limits.OWN_LESSON_PARAMETERS + 1)}}, "kind"),
    ],
)
def test_a_step_has_its_limits(change, expected):
    assert refusal(checked, TABLE | {"step": [TABLE["step"][0] | change]}) == expected
