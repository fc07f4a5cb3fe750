"""A teacher's own lesson on the pages: the same bar and the same presenter; a stranger's text stays text."""

import json

from tests.lessons.test_custom_lesson import QUESTION, TABLE
from tests.modes.lesson.test_asked import bar_state, pictures
from tests.running import link_of
from viz.lessons.custom_lesson import packed
from viz.lessons.lesson import OwnLessonError
from viz.lessons.lesson_file import lesson_named
from viz.modes.lesson.bar import do
from viz.modes.lesson.own import step_of_view
from viz.text import LANGUAGES, sentences, translator

CODE = packed(TABLE)
T = translator("en")


def errors(app) -> list[str]:
    assert not app.exception
    return [error.value for error in app.error]


def editor(app) -> dict:
    (view,) = [v for v in app.get("bidi_component") if v.proto.component_name == "headlight.my_lesson"]
    return json.loads(view.proto.json)[0]


def test_step_covers_picture_until_answered(open_app):
    """A step covers its picture until the class has answered."""
    app = open_app("heads", own_lesson=CODE, source="words")
    bar = bar_state(app)
    assert (bar["kind"], bar["title"], bar["steps"], bar["done"]) == ("open", "看 & see", 2, "")
    assert (bar["text"], bar["question"]) == ("One", QUESTION), "as it was typed"
    assert not pictures(app)
    assert app.session_state["text"] == TABLE["step"][0]["parameters"]["text"]
    assert link_of(app) == {"own_lesson": CODE, "source": "words"}, "what the step shows is a default"
    do(app.session_state["_lessons"][next(iter(app.session_state["_lessons"]))], "reveal", None)
    app.run()
    assert bar_state(app)["done"] and pictures(app)
    assert bar["links"]["next"] == f"masks?own_lesson={CODE}&lesson_step=2&lang=en"


def test_step_without_question_shows_at_once(open_app):
    app = open_app("masks", own_lesson=CODE, lesson_step=2)
    bar = bar_state(app)
    assert (bar["question"], bool(bar["done"]), bar["is_last"]) == ("", True, True)
    assert pictures(app)
    assert bar["links"]["next"] == f"lessons?own_lesson={CODE}&section=mine&lang=en", (
        "there it can be begun again, or taken over"
    )


def test_invalid_step_falls_back(open_app):
    """An invalid step falls back to its defaults as in any link."""
    odd = {"layer": "99", "mask": "<img>", "head": "x", "model": "../../etc"}
    step = TABLE["step"][0] | {"parameters": odd, "covers": False}
    app = open_app("heads", own_lesson=packed({"title": "", "step": [step]}))
    assert errors(app) == []
    assert bar_state(app)["title"] == T("lesson.own_title")
    assert app.session_state["layer"] == open_app("heads").session_state["layer"]
    assert app.session_state["mask"] == "own"


def test_missing_lesson_is_one_sentence(open_app):
    nowhere = packed({"title": "", "step": [TABLE["step"][0] | {"section": "nowhere"}]})
    for code, sentence in ((CODE[:-7], T("lesson.own_broken")), (nowhere, T("lesson.own_place", where="step 1"))):
        app = open_app("glossary", own_lesson=code)
        assert errors(app) == [sentence]
        assert bar_state(app) is None
        assert "own_lesson" not in app.query_params, "it is not written again"


def test_refusals_have_sentences():
    codes = {"broken", "large", "steps", "kind", "unknown", "long", "place"}
    for lang in LANGUAGES:
        assert {f"lesson.own_{code}" for code in codes} <= sentences(lang).keys()
    assert OwnLessonError("large").values == {}


def test_list_adds_lesson_of_link(open_app):
    """The list has the lesson of a link."""
    app = open_app("lessons", section="mine", own_lesson=CODE, lang="zh")
    assert bar_state(app) is None, "it is begun there, not gone on with"
    lesson = editor(app)["given"]
    assert lesson["lesson"] == TABLE
    assert lesson["start"] == f"heads?own_lesson={CODE}&lesson_step=1&lang=zh"


def test_view_is_own_step(open_app, monkeypatch):
    digests = []
    monkeypatch.setattr(
        "viz.modes.share.panel.offer", lambda t, page: digests.append(step_of_view(t, page, "all_heads"))
    )
    open_app("heads", lesson="ten_minutes", lesson_step=5, temperature=2.0, without="text", theme="dark")
    (step,) = digests
    parameters = lesson_named("ten_minutes").steps[4].shows["en"]
    assert step["parameters"] == {**parameters, "temperature": "2.0"}, "what the step shows, and what was changed in it"
    assert (step["page"], step["section"], step["title"]) == ("heads", "all_heads", T("heads.all_heads.title"))
