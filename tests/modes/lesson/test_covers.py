"""While a step's question is open its picture is drawn, and no message to the browser has the answer."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.modes.lesson.test_asked import bar_state, pictures
from tests.running import sentences_of
from viz.components.unpack import unpack
from viz.lessons.lesson import IN_THE_PAGE
from viz.lessons.lesson_file import lesson_named, lessons
from viz.modes.lesson import asked
from viz.modes.lesson.bar import do
from viz.modes.lesson.covers import cover_of
from viz.text import LANGUAGES

STEPS = [(lesson.name, number) for lesson in lessons() for number in range(1, len(lesson.steps) + 1)]
COVERED_STEPS = [
    (name, number)
    for name, number in STEPS
    if lesson_named(name).steps[number - 1].ask.kind not in IN_THE_PAGE
    and not lesson_named(name).steps[number - 1].covers
]
NUMBER = re.compile(r"\d+\.\d+")


def messages(app) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each view's name, what it is sent as JSON, and its blocks of numbers."""
    for view in app.get("bidi_component"):
        name, proto = view.proto.component_name, view.proto
        if proto.WhichOneof("data") == "bytes":
            yield name, *unpack(proto.bytes)
        elif proto.json and isinstance(data := json.loads(proto.json)[0], dict):
            yield name, data, {}


def secrets(monkeypatch) -> dict[str, Any]:
    """The result of the answer's function for the open question, once there is one."""
    answers: dict[str, Any] = {}
    work = cover_of

    def note(running, key, subject):
        answers.update(key=key, subject=subject, cover=(cover := work(running, key, subject)))
        return cover

    monkeypatch.setattr(asked, "cover_of", note)
    return answers


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def has_number(text: str, number: float) -> bool:
    """Return True if a text has a number, as far as its digits go; two digits at least."""
    for match in NUMBER.findall(text):
        digits = len(match.partition(".")[2])
        if digits >= 2 and f"{abs(number):.{digits}f}" == match:
            return True
    return False


def asked_numbers(answers: dict[str, Any], step) -> list[float]:
    """The values that the explanation says and the question does not, worked out from the sentences."""
    before = " ".join([step.text["en"], step.ask.question["en"], step.ask.hint["en"]])
    after = " ".join([step.ask.reveal["en"], *(text["en"] for text in step.ask.wrong.values())])
    values = answers["key"].values
    names = {*re.findall(r"\{(\w+)", after)} - {*re.findall(r"\{(\w+)", before)}
    vectors = [number for value in values.values() if isinstance(value, tuple) for number in value]
    numbers = [values[name] for name in names if isinstance(values.get(name), float) and values[name] not in vectors]
    return [float(number) for number in numbers if not float(number).is_integer()]


@pytest.mark.parametrize(("name", "number"), COVERED_STEPS)
def test_open_question_sends_no_answer(open_app, monkeypatch, name, number):
    """No table, tooltip, live region, alternative text, sentence or block of numbers has the number that is asked."""
    answers, step = secrets(monkeypatch), lesson_named(name).steps[number - 1]
    app = open_app(step.page, lesson=name, lesson_step=number, lang="en")
    bar = bar_state(app)
    assert bar["question"] and not bar["premise"] and not bar["done"]
    assert pictures(app), "the picture is there"
    numbers = asked_numbers(answers, step)
    for view, data, blocks in messages(app):
        for block in blocks.values():
            for secret in numbers if block.dtype == np.float32 else []:
                assert not np.isclose(block, secret, rtol=1e-6, atol=1e-9).any(), (view, secret)
        assert not [(text, secret) for text in strings(data) for secret in numbers if has_number(text, secret)], view
    assert not [(text, secret) for text in sentences_of(app) for secret in numbers if has_number(text, secret)]
    assert not bar["reveal"] and not bar["why"] and not bar["right"]


@pytest.mark.parametrize(("name", "number"), COVERED_STEPS)
def test_covered_places_hold_no_number(open_app, monkeypatch, name, number):
    """Of a map of the words, the cells that are asked are empty in every view, and back when the question is over."""
    answers, step = secrets(monkeypatch), lesson_named(name).steps[number - 1]
    app = open_app(step.page, lesson=name, lesson_step=number, lang="en")
    cover = answers["cover"]
    assert cover.is_open
    is_map = cover.places is not None and bool(cover.places.any())
    checked = 0
    for _, data, blocks in messages(app):
        if is_map and data.get("kind") == "wall":
            maps = blocks["values"].reshape(-1, data["rows"], data["columns"])
            assert not maps[:, cover.places].any()
            checked += 1
        if data.get("covers"):
            assert data["covers"]["open"]
            checked += bool(data["covers"]["cells"])
    assert checked or not is_map or step.page == "step_by_step", "its matrices are printed"
    do(app.session_state["_lessons"][name, number], "reveal", None)
    app.run()
    assert bar_state(app)["reveal"] and not answers["cover"].is_open
    for _, data, _ in messages(app):
        assert not (data.get("covers") or {}).get("open"), "all is there after the answer"


def test_few_steps_cover_whole_sections():
    """A section that is kept back as a whole leaves an empty frame: at most three steps of all lessons have one."""
    whole_sections = [(name, number) for name, number in STEPS if lesson_named(name).steps[number - 1].covers]
    assert len(whole_sections) <= 3, whole_sections


@pytest.mark.parametrize("lang", LANGUAGES)
def test_column_of_no_token_is_covered(open_app, lang):
    """Beside the tokens a map may have a column of another kind; a step covers it by the text that names it."""
    app = open_app("attention_today", lesson="first_word", lesson_step=4, lang=lang)
    assert bar_state(app)["question"] and not bar_state(app)["premise"]
    (header, blocks) = next((data, blocks) for _, data, blocks in messages(app) if data.get("what") == "weights")
    maps = blocks["values"].reshape(2, header["rows"], header["n"])
    n = header["rows"]
    assert header["n"] == n + 1 and np.isnan(maps[:, :, n]).all() and not np.isnan(maps[1, 1:n, 1:n]).any()
    do(app.session_state["_lessons"]["first_word", 4], "reveal", None)
    app.run()
    assert not any(np.isnan(blocks["values"]).any() for _, data, blocks in messages(app) if "what" in data)


def test_first_column_is_covered_beside_others(open_app):
    """The weights on the first token are covered in a map that has a column more than tokens."""
    app = open_app("attention_today", lesson="first_word", lesson_step=1, lang="en")
    (header, blocks) = next((data, blocks) for _, data, blocks in messages(app) if data.get("what") == "weights")
    maps = blocks["values"].reshape(2, header["rows"], header["n"])
    assert np.isnan(maps[:, :, 0]).all() and not np.isnan(maps[:, :, 1:]).any()
