"""Lessons as they are written: strictly read, in both languages, with every sentence filled in."""

import re
from string import Formatter

import pytest

from viz.lessons.answers import ANSWERS
from viz.lessons.lesson import LANGUAGES, Hides
from viz.lessons.lesson_file import FOLDER, ORDER, LessonError, lessons, names, read_lesson

STEPS = [(lesson, number) for lesson in lessons() for number in range(1, len(lesson.steps) + 1)]
ENGLISH = re.compile(r"[A-Za-z]{2,}[,;:]? [A-Za-z]{2,}")
LESSON_FILE = (FOLDER / "ten_minutes.toml").read_text("utf8")
BARE = re.sub(r"(?ms)^next = .*?\n|^keep = \[.*?^\]\n|^why\..*?\n|^hides\..*?\n", "", LESSON_FILE)
"""The same without what a file may leave out."""


def ids(value):
    return getattr(value, "name", str(value))


def placeholders(text: str) -> set[str]:
    return {field.partition("|")[0] for _, field, _, _ in Formatter().parse(text) if field is not None}


def test_lessons_are_all_listed():
    assert sorted(ORDER) == list(names())


def test_lesson_duration_is_in_range():
    assert all(5 <= lesson.minutes <= 13 for lesson in lessons())


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=ids)
def test_both_languages_say_the_same(lesson, number):
    step = lesson.steps[number - 1]
    ask = step.ask
    texts = [lesson.title, lesson.knows, step.text, step.note, ask.question, ask.hint, ask.reveal]
    for text in (*texts, *ask.wrong.values(), *ask.options.values()):
        assert set(text) == set(LANGUAGES)
        assert placeholders(text["en"]) == placeholders(text["zh"])
        chinese = re.sub(r"\{[^}]*\}", "", text["zh"])
        assert re.search(r"[\u4e00-\u9fff]", chinese) or not ENGLISH.search(chinese), chinese


def test_each_lesson_leads_to_the_next():
    """The card at a lesson's end says three sentences and names the lesson that follows it in the list."""
    assert [lesson.next for lesson in lessons()] == [*ORDER[1:], ""]
    assert all(len(lesson.keep) == 3 for lesson in lessons())


def test_functions_are_all_used():
    assert {step.ask.answer for lesson in lessons() for step in lesson.steps} == set(ANSWERS)


def test_new_fields_are_read():
    """A file says what to keep, what comes next, a model answer, and what is covered; without them nothing is."""
    plain = read_lesson("one", BARE)
    assert plain.steps[0].hides == Hides()
    head = 'next = "masks_and_order"\nkeep = [' + '{ en = "A.", zh = "甲。" },' * 3 + "]\n"
    step = '[[step]]\nwhy.en = "{weight}"\nwhy.zh = "{weight}"\nhides.numbers = ["weight"]\nhides.labels = ["*"]\n'
    lesson_file = head + BARE.replace("[[step]]\n", step, 1)
    lesson = read_lesson("one", lesson_file)
    assert (lesson.next, lesson.keep) == ("masks_and_order", ({"en": "A.", "zh": "甲。"},) * 3)
    assert lesson.steps[0].why == {"en": "{weight}", "zh": "{weight}"}
    assert lesson.steps[0].hides == Hides(numbers=("weight",), labels=("*",))


@pytest.mark.parametrize(
    ("head", "step", "message"),
    [
        ('next = "nowhere"', "", "next is the name of a lesson"),
        ('keep = ["A."]', "", "keep is a list of three sentences"),
        ("", "hides.number = []", "number is not known"),
        ("", 'hides.labels = "head 1"', "labels is a list of words"),
        ("", 'why.en = "A."', "why has to be said in en and zh"),
    ],
)
def test_wrong_new_fields_are_refused(head, step, message):
    with pytest.raises(LessonError, match=re.escape(message)):
        read_lesson("one", f"{head}\n{BARE.replace('[[step]]', f'[[step]]{chr(10)}{step}', 1)}")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[parameters.zh]", "[parametres.zh]", "parametres is not known"),
        ("minutes = 1\n", 'minutes = "1"\n', "step 1: minutes is missing"),
        ('kind = "word"', 'kind = "ward"', "step 1, ask: ward is no kind of question"),
        ('answer = "looks_at_most"', 'answer = "evil"', "there is no function evil"),
        ('answer = "looks_at_most"', 'answer = "left_over"', "answers a question of the kind number, not word"),
        ('wrong.itself.en = "A word may', 'wrong.himself.en = "A word may', "gives the reasons itself, less"),
        ('title.zh = "读懂真实的注意力头"', "", "title has to be said in en and zh"),
        ('question.zh = "在这个头里，“{query}”最看重哪个词？"', 'question.zh = " "', "question.zh says nothing"),
        ("layer = 3", "layer = [3]", "layer is neither text nor number"),
        ("minutes = 1\n", "minutes = 1\ncovered = true\n", "covered is not known"),
        ('text.en = "A head', 'text.en = "A {head}', "text has nothing to be filled in with"),
        (
            'options.same.en = "about the same number"\noptions.same.zh = "差不多的数"\n',
            "",
            "needs the options same, less, more",
        ),
        ("[parameters.en]", "[parameters.en", "ten_minutes: "),
    ],
)
def test_fault_of_file_names_its_place(before, after, message):
    assert before in LESSON_FILE
    with pytest.raises(LessonError, match=re.escape(message)):
        read_lesson("ten_minutes", LESSON_FILE.replace(before, after))


def test_language_fields_join_common_fields():
    """The fields of one language join those that hold for all."""
    step = read_lesson("ten_minutes", LESSON_FILE).steps[3]
    assert step.shows["en"]["text"].endswith("wide.") and step.shows["zh"]["text"] == "这只动物没有过马路，它太宽了。"
    assert step.link("zh", is_open=True)["layer"] == "8"
