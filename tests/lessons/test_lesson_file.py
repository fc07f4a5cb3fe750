"""Lessons as they are written: in both languages, with the options and reasons that their functions know."""

import re
from string import Formatter

import pytest

from viz.lessons.answers import ANSWERS
from viz.lessons.lesson import KINDS, LANGUAGES
from viz.lessons.lesson_file import FOLDER, ORDER, lessons, read_lesson

STEPS = [(lesson, number) for lesson in lessons() for number in range(1, len(lesson.steps) + 1)]
GESTURE = re.compile(r"(?i)\b(click|tap|drag|press)\b|点选|点击|单击|点 [A-Z]")
"""Words for what only a screen can do."""
ENGLISH = re.compile(r"[A-Za-z]{2,}[,;:]? [A-Za-z]{2,}")
LESSON_FILE = (FOLDER / "ten_minutes.toml").read_text("utf8")


def ids(value):
    return getattr(value, "name", str(value))


def placeholders(text: str) -> set[str]:
    return {field.partition("|")[0] for _, field, _, _ in Formatter().parse(text) if field is not None}


def test_lessons_are_all_listed():
    assert {*ORDER} == {path.stem for path in FOLDER.glob("*.toml")}


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=ids)
def test_both_languages_say_the_same(lesson, number):
    step = lesson.steps[number - 1]
    ask = step.ask
    texts = [lesson.title, lesson.knows, step.text, step.note, ask.question, ask.hint, ask.reveal]
    for text in (*texts, *ask.wrong.values(), *ask.options.values()):
        assert set(text) == set(LANGUAGES) and all(sentence.strip() for sentence in text.values())
        assert placeholders(text["en"]) == placeholders(text["zh"])
        chinese = re.sub(r"\{[^}]*\}", "", text["zh"])
        assert re.search(r"[\u4e00-\u9fff]", chinese) or not ENGLISH.search(chinese), chinese
    assert not any(placeholders(text[lang]) for text in (step.text, step.note) for lang in LANGUAGES)


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=ids)
def test_printed_sentence_asks_no_click(lesson, number):
    """A worksheet and its answers have every sentence of a step but its hint."""
    step = lesson.steps[number - 1]
    for text in (step.text, step.note, step.ask.question, step.ask.reveal, *step.ask.options.values()):
        assert not any(GESTURE.search(sentence) for sentence in text.values()), text


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=ids)
def test_question_fits_its_function(lesson, number):
    """The kind is the function's, every reason has its sentence, and every option that can be right is offered."""
    ask = lesson.steps[number - 1].ask
    function = ANSWERS[ask.answer]
    assert ask.kind == function.kind and ask.kind in KINDS
    assert set(ask.wrong) == set(function.reasons)
    assert ask.kind not in ("option", "order") or set(function.codes) <= set(ask.options)


def test_each_lesson_leads_to_the_next():
    """The card at a lesson's end says three sentences and names the lesson that follows it in the list."""
    assert [lesson.next for lesson in lessons()] == [*ORDER[1:], ""]
    assert all(len(lesson.keep) == 3 for lesson in lessons())


def test_functions_are_all_used():
    assert {step.ask.answer for lesson in lessons() for step in lesson.steps} == set(ANSWERS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[parameters.en]", "[parametres]\n[parameters.en]"),
        ("minutes = 1\n", "minutes = 1\ncovered = true\n"),
        ("minutes = 1\n", "minutes = 1\nhides.number = []\n"),
        ('kind = "word"', 'kinds = "word"'),
    ],
)
def test_unknown_name_is_refused(before, after):
    assert before in LESSON_FILE
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        read_lesson("ten_minutes", LESSON_FILE.replace(before, after))


def test_language_fields_join_common_fields():
    """The fields of one language join those that hold for all."""
    step = read_lesson("ten_minutes", LESSON_FILE).steps[3]
    assert step.shows["en"]["text"].endswith("wide.") and step.shows["zh"]["text"] == "这只动物没有过马路，它太宽了。"
    assert step.link("zh", is_open=True)["layer"] == "8"
