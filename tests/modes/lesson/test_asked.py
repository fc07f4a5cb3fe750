"""Lessons run without a browser: every step, before and after its answer; links that ask too much."""

import json
import re
from itertools import product

import pytest

from tests.running import link_of, sentences_of
from viz.frame.sidebar import file_of
from viz.lessons.lesson_file import lesson_named, lessons
from viz.modes.lesson.bar import DID, IN_PAGE, do
from viz.modes.lesson.running import Progress
from viz.text import translator

STEPS = [(lesson.name, number) for lesson in lessons() for number in range(1, len(lesson.steps) + 1)]
BAR = "headlight.lesson_bar"


def bar_state(app):
    """The data of the bar; None without one."""
    assert not app.exception, [exception.message for exception in app.exception]
    states = [json.loads(view.proto.json)[0] for view in app.get("bidi_component") if view.proto.component_name == BAR]
    assert len(states) <= 1
    return states[0] if states else None


def pictures(app) -> list[str]:
    """The pictures on the page, but for the frame around them."""
    views = [view.proto.component_name for view in app.get("bidi_component")]
    frame = ("lesson_bar", "document", "see", "address", "reopen", "search")
    return [view for view in views if not view.endswith(frame)] + ["figure"] * len(app.get("plotly_chart"))


def texts(bar) -> list[str]:
    return [bar[name] or "" for name in ("text", "question", "hint", "reveal", "verdict", "premise")] + [
        label for _, label in bar["options"]
    ]


@pytest.mark.parametrize(("lesson", "number"), STEPS)
def test_finished_step_shows_true_result(open_app, monkeypatch, lesson, number):
    step = lesson_named(lesson).steps[number - 1]
    over = Progress(done="revealed", hinted=True)
    monkeypatch.setattr("viz.modes.lesson.running.progress", lambda *_: over)
    monkeypatch.setattr("viz.modes.lesson.bar.progress", lambda *_: over)
    app = open_app(step.page, lesson=lesson, lesson_step=number, lang="en")
    bar = bar_state(app)
    assert bar["done"] and bar["reveal"] and not bar["premise"] and bar["hint"]
    assert not re.search(r"[{}]", "".join(texts(bar)))
    assert pictures(app)
    assert app.session_state["section"] == step.section
    for name, value in step.shows["en"].items():
        if name not in app.session_state:
            shared = ("text", "model", "layer", "head", "d_model", "n_heads")
            assert name in shared, "of the whole lesson, for its other steps"
            continue
        actual = app.session_state[name]
        actual = "-".join(map(str, actual)) if isinstance(actual, list) else actual
        assert str(int(actual) if isinstance(actual, bool) else actual) == value, "the step is what its link says"


def answer(app, lesson: str, number: int, answer_) -> dict:
    do(app.session_state["_lessons"][lesson, number], "check", answer_)
    return bar_state(app.run())


def test_answer_is_judged_and_uncovered(open_app):
    """An answer is judged, and the covered result is displayed."""
    app = open_app(lesson="ten_minutes")
    words = {label: code for code, label in bar_state(app)["options"]}
    bar = answer(app, "ten_minutes", 1, words["street"])
    assert (bar["is_right"], bar["done"]) == (False, "") and "“street”" in bar["verdict"]
    assert not bar["right"], "what is right is not told before"
    assert pictures(app) == ["headlight.bars"], "the picture is there, and what is asked in it is covered"
    bar = answer(app, "ten_minutes", 1, words["animal"])
    assert (bar["is_right"], bar["done"], bar["verdict"]) == (True, "right", "Right.")
    assert bar["right"] == [words["animal"]], "marked in the bar, also for who had it shown"
    assert bar["reveal"].startswith("Of the words, “animal” gets the most from “it”: 0.68.")
    assert pictures(app) == ["headlight.bars"]


def test_word_question_offers_words_only(open_app):
    """Marks around the text and punctuation are no words, so they are no answers; two equal words have their places."""
    app = open_app(lesson="ten_minutes", lang="en")
    words = [label for _, label in bar_state(app)["options"]]
    pieces = ["animal", "didn", "t", "cross", "7 · the", "street", "because", "it", "was", "too", "tired"]
    assert words == ["1 · the", *pieces]


def test_shuffle_answer_ignores_mask_in_link(open_app):
    """The pictures of the section have no mask, and the sentence after the answer says what they show."""
    app = open_app("positions", lesson="masks_and_order", lesson_step=6, mask="causal")
    bar = answer(app, "masks_and_order", 6, "words")
    assert (bar["is_right"], bar["done"]) == (True, "right") and bar["reveal"].startswith("The same words")


def test_head_is_picked_and_judged(open_app):
    """A head is picked in the picture and judged when it is checked."""
    app = open_app(lesson="ten_minutes", lesson_step=5)
    assert bar_state(app)["picked"] == [[3, 1], "Click a head in the picture. Chosen: layer 3, head 1."]
    bar = answer(app, "ten_minutes", 5, [3, 1])
    assert bar["is_right"] is False and "layer 3, head 1" in bar["verdict"]
    app.slider(key="layer").set_value(1)
    app.slider(key="head").set_value(3).run()
    assert not bar_state(app)["verdict"], "another head has not been checked"
    assert bar_state(app)["picked"][0] == [1, 3]
    assert answer(app, "ten_minutes", 5, [9, 9])["is_right"] is None, "what was not chosen is no answer"
    app.slider(key="head").set_value(8)
    assert answer(app, "ten_minutes", 5, IN_PAGE)["is_right"], "chosen and checked at once"


def test_cell_is_selected_before_check(open_app):
    app = open_app(lesson="masks_and_order", lang="en")
    bar = answer(app, "masks_and_order", 1, IN_PAGE)
    assert (bar["picked"], bar["done"], bar["verdict"]) == (None, "", bar["words"]["nothing"])


def test_other_sentence_resets_verdict(open_app):
    """Another sentence has another key, and the old verdict is model."""
    app = open_app(lesson="ten_minutes")
    bar = answer(app, "ten_minutes", 1, {label: code for code, label in bar_state(app)["options"]}["street"])
    assert bar["verdict"]
    app.text_area(key="text").set_value("The cat ignored the mouse because it was sleepy.").run()
    bar = bar_state(app)
    assert not bar["verdict"] and bar["is_right"] is None
    words = {label: code for code, label in bar["options"]}
    assert answer(app, "ten_minutes", 1, words["mouse"])["is_right"]
    assert app.query_params["text"] == "The cat ignored the mouse because it was sleepy."
    assert "text=The+cat" in bar_state(app)["links"]["next"], "the next step is asked about it too"


def test_question_without_sense_is_omitted(open_app):
    """The bar explains a question without sense and asks nothing."""
    app = open_app(lesson="ten_minutes", text="The dog sleeps.", lang="en")
    bar = bar_state(app)
    assert bar["premise"] == translator("en")("lesson.premise_no_word", word="it")
    assert not bar["question"] and not bar["options"]
    assert pictures(app), "what is not asked for is not covered"


def test_link_holds_step_and_changes(open_app):
    app = open_app(lesson="ten_minutes", lesson_step=4, lang="en")
    assert link_of(app) == {"lesson": "ten_minutes", "lesson_step": "4"}
    app.slider(key="layer").set_value(2).run()
    assert link_of(app) == {"lesson": "ten_minutes", "lesson_step": "4", "layer": "2"}
    app = open_app(lesson="ten_minutes", lesson_step=6)
    app.slider(key="layer").set_value(3).run()
    assert link_of(app)["layer"] == "3", "the page's default is no default of the step"


def test_step_waits_on_other_page(open_app):
    app = open_app(lesson="ten_minutes", lesson_step=4)
    app.switch_page(file_of("masks")).run()
    bar = bar_state(app)
    assert bar["kind"] == "" and bar["links"]["here"].startswith("heads?lesson=ten_minutes&lesson_step=4")
    assert app.text_area(key="text").value.endswith("wide."), "the sentence comes along"
    assert translator("en")("masks.lead") in sentences_of(app), "there the page says again what it is about"
    app.switch_page(file_of("heads")).run()
    assert bar_state(app)["kind"] == "option"


def test_no_lesson_leaves_no_bar(open_app):
    """Without a lesson there is no bar, and no style of it."""
    app = open_app("masks", source="words", text="a b c")
    assert bar_state(app) is None
    styles = "".join(element.proto.body for element in app.get("html"))
    on_screen, count = re.subn(r"@media print ?\{([^{}]|\{([^{}]|\{[^{}]*\})*\})*\}", "", styles)
    assert count, "what is on paper only has rules for lessons"
    assert "lesson" not in on_screen


@pytest.mark.parametrize(
    ("hostile", "names", "number"),
    [
        ({"lesson": "evil"}, "lesson", None),
        ({"lesson": "../../etc/passwd"}, "lesson", None),
        ({"lesson": "x" * 10_000, "lesson_step": "2"}, "lesson", None),
        ({"lesson": "ten_minutes", "lesson_step": "-1"}, "lesson_step", 1),
        ({"lesson": "ten_minutes", "lesson_step": "0"}, "lesson_step", 1),
        ({"lesson": "ten_minutes", "lesson_step": "1000000000"}, "lesson_step", 1),
        ({"lesson": "ten_minutes", "lesson_step": "NaN", "answer": "<b>"}, "lesson_step", 1),
    ],
)
def test_link_to_unknown_step_falls_back(open_app, hostile, names, number):
    app = open_app("masks", source="words", text="a b c", **hostile)
    assert translator("en")("note.refused", names=names) in [info.value for info in app.info]
    assert (bar_state(app) or {}).get("number") == number
    assert not {names, "answer"} & set(app.query_params)


@pytest.mark.parametrize(
    ("action", "answer"),
    [*product(["check"], ["x" * 41, ["y"] * 65, [["z"]], {"a": 1}, 10**7, 0.5]), ("evil", 1), (None, 1), ([], 1)],
)
def test_did_other_than_answer_misfits(action, answer):
    """The bar's message is one of its actions, with an answer that a question may have."""
    with pytest.raises(ValueError):
        DID({"lesson": "a", "number": 1, "action": action, "answer": answer})
    assert DID({"lesson": "a", "number": 1, "action": "check", "answer": ["b", 2]})["answer"] == ["b", 2]


@pytest.mark.parametrize(
    ("lesson", "number", "kind"), [("ten_minutes", 1, "word"), ("ten_minutes", 3, "option"), ("many_heads", 5, "order")]
)
def test_answer_sheet_marks_right_answers(open_app, lesson, number, kind):
    step = lesson_named(lesson).steps[number - 1]
    link = {"lesson": lesson, "lesson_step": number, "embed": 1, "lang": "zh"}
    bar = bar_state(open_app(step.page, **link, print="answers"))
    assert (bar["kind"], bar["done"], bar["told"]) == (kind, "revealed", step.note["zh"])
    codes = [code for code, _ in bar["options"]]
    assert bar["right"] and set(bar["right"]) <= set(codes)
    assert len(bar["right"]) == (len(codes) if kind == "order" else 1)
    sheet = bar_state(open_app(step.page, **link, print=1))
    assert (sheet["done"], sheet["right"], sheet["told"], sheet["reveal"]) == ("", [], "", "")
