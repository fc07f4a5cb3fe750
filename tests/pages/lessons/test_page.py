"""The lessons as cards: length, what one knows after each, its model, and links to its steps."""

import json

import pytest

from pages import FIRST, LESSONS, NAVIGATION, PAGES
from pages.lessons.pictures import SIDE, pictures
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import ORDER, lessons
from viz.modes.lesson import running
from viz.text import LANGUAGES, translator


def cards(app):
    """Return the data of each card."""
    (view,) = [view for view in app.get("bidi_component") if view.proto.component_name == "headlight.lesson_path"]
    return json.loads(view.proto.json)[0]["lessons"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_lesson_links_its_steps(open_app, lang):
    assert NAVIGATION["basics"][:2] == (FIRST, LESSONS) and LESSONS not in PAGES
    app, t = open_app("lessons", lang=lang, text="zebra"), translator(lang)
    assert not app.exception
    assert app.title[0].value == t("lessons.title")
    for card, lesson in zip(cards(app), lessons(), strict=True):
        assert (card["title"], card["knows"]) == (lesson.title[lang], lesson.knows[lang])
        steps = [f"lesson={lesson.name}&lesson_step={number}&lang={lang}" for number in range(1, 1 + len(lesson.steps))]
        assert card["links"] == [f"{path_of(of.page)}?{step}" for of, step in zip(lesson.steps, steps, strict=True)]
    assert app.query_params["text"] == "zebra", "the text is kept"


def test_lesson_without_its_model_names_it(open_app, monkeypatch):
    """A lesson whose model is not here says which, and is not the next one."""
    model = "SmolLM2-135M-Instruct"
    monkeypatch.setattr(running, "is_missing", lambda name: name == model)
    missing = {card["name"]: card["model"] for card in cards(open_app("lessons", lang="en")) if card["missing"]}
    assert missing.keys() == {"training_and_writing", "feed_forward", "probability", "first_word"}
    assert set(missing.values()) == {translator("en")("lessons.missing", names=model)}


def test_every_lesson_has_another_picture():
    """Pictures stay within their frame, and a map's darkest cells are its largest weights."""
    assert pictures().keys() == {*ORDER}
    assert len({json.dumps(picture) for picture in pictures().values()}) == len(ORDER)
    rects = [rect for picture in pictures().values() for rect in picture.get("rects", [])]
    assert all(0 <= x <= x + w <= SIDE and 0 <= y <= y + h <= SIDE and 0 < o <= 1 for x, y, w, h, o in rects)
    dark = [x <= y for x, y, *_, opacity in pictures()["masks_and_order"]["rects"] if opacity == 1]
    assert all(dark) and len(dark) == 6 * 7 / 2
