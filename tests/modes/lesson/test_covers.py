"""While a step's question is open, nothing that is sent holds its answer, nor what the next step asks."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.modes.lesson.test_asked import bar_state, pictures
from tests.running import sentences_of
from viz.components.unpack import unpack
from viz.lessons.key import Key
from viz.lessons.lesson import IN_THE_PAGE, Step
from viz.lessons.lesson_file import lesson_named, lessons
from viz.modes.lesson import asked
from viz.modes.lesson.bar import do
from viz.modes.lesson.covers import FULL_STOPS, cover_of
from viz.text import LANGUAGES, sentences

STEPS = [(lesson.name, number) for lesson in lessons() for number in range(1, len(lesson.steps) + 1)]
COVERED_STEPS = [
    (name, number)
    for name, number in STEPS
    if lesson_named(name).steps[number - 1].ask.kind not in IN_THE_PAGE
    and not lesson_named(name).steps[number - 1].covers
]
NUMBER = re.compile(r"\d+\.\d+")
BAR = "headlight.lesson_bar"
FRAME = ("document", "see", "address", "reopen", "search")
SHOWN_VALUES = {("attention_from_nothing", 7): {"lost"}, ("first_word", 6): {"before"}}
"""Values of the explanation that the picture shows from the start: what one head loses, a weight before the change."""


ABOUT = {"positions.first_layer"}
"""Sentences of pages about all their sections."""


def messages(app) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each view's name, what it is sent as JSON, and its blocks of numbers."""
    for view in app.get("bidi_component"):
        name, proto = view.proto.component_name, view.proto
        if proto.WhichOneof("data") == "bytes":
            yield name, *unpack(proto.bytes)
        elif proto.json and isinstance(data := json.loads(proto.json)[0], dict):
            yield name, data, {}


def leaves(value: Any) -> Iterator[Any]:
    """Every string and number in what JSON can hold."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for part in value:
            yield from leaves(part)
    else:
        yield value


@dataclass
class Screen:
    """Everything that is sent for a step but for the bar's words: pictures, their texts, sentences and tables."""

    bar: dict[str, Any]
    views: list[tuple[str, dict[str, Any], dict[str, Any]]]
    sentences: list[str]
    tables: list[dict[str, list[Any]]]
    texts: list[str] = field(default_factory=list)
    numbers: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        every_leaf = [*leaves([data for _, data, _ in self.views]), *leaves(self.tables)]
        self.texts = [*self.sentences, *(leaf for leaf in every_leaf if isinstance(leaf, str))]
        exact = [leaf for leaf in every_leaf if isinstance(leaf, float)]
        blocks = [block for _, _, blocks in self.views for block in blocks.values() if block.dtype == np.float32]
        self.numbers = [np.asarray(exact, np.float64), *blocks]

    @property
    def words(self) -> set[str]:
        """The first words of all texts."""
        return {text.strip("␣").partition(" ")[0] for text in self.texts}

    def holds(self, number: float) -> bool:
        """Return True if a number is in a picture or table, or printed in a text with two digits that say something."""
        if any(np.isclose(block, number, rtol=1e-6, atol=1e-9).any() for block in self.numbers):
            return True
        numerals = [match for text in self.texts for match in NUMBER.findall(text) if len(match.lstrip("0.")) > 1]
        return any(f"{abs(number):.{len(match.partition('.')[2])}f}" == match for match in numerals)


def screen_of(app) -> Screen:
    views = [message for message in messages(app) if not message[0].endswith(FRAME)]
    texts = [element.value for kind in ("text", "caption", "info", "warning") for element in getattr(app, kind)]
    assert not app.get("plotly_chart"), "their numbers are read by no test here"
    return Screen(
        bar=bar_state(app),
        views=[message for message in views if message[0] != BAR],
        sentences=[*sentences_of(app), *texts],
        tables=[table.value.to_dict("list") for table in app.dataframe],
    )


def secrets(monkeypatch) -> dict[str, Any]:
    """The result of the answer's function for the open question, once there is one."""
    answers: dict[str, Any] = {}
    work = cover_of

    def note(running, key, subject):
        answers.update(key=key, subject=subject, cover=(cover := work(running, key, subject)))
        return cover

    monkeypatch.setattr(asked, "cover_of", note)
    return answers


def secret_values_of(key: Key, step: Step) -> dict[str, float]:
    """Return the values that the explanations say and the question does not, and a number that is asked for."""
    question = " ".join([step.text["en"], step.ask.question["en"], step.ask.hint["en"]])
    explanations = " ".join([step.ask.reveal["en"], *(text["en"] for text in step.ask.wrong.values())])
    names = {*re.findall(r"\{(\w+)", explanations)} - {*re.findall(r"\{(\w+)", question)}
    vectors = [number for value in key.values.values() if isinstance(value, tuple) for number in value]
    values: dict[str, Any] = {name: key.values.get(name) for name in names}
    if step.ask.kind == "number":
        values["answer"] = key.right[0]
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, float) and not round(value, 4).is_integer() and value not in vectors
    }


def answer_words(key: Key, step: Step, labels: tuple[str, ...]) -> set[str]:
    """Return the words that the right option names, if they are none of the text."""
    option = step.ask.options[str(key.right[0])]["en"] if step.ask.kind == "option" else ""
    names = re.findall(r"“\{(\w+)\}”", option)
    return {str(key.values[name]) for name in names} - {label.strip("␣") for label in labels}


def covers_of(screen: Screen) -> list[dict[str, Any]]:
    return [data["covers"] for _, data, _ in screen.views if data.get("covers")]


def fences(screen: Screen) -> Iterator[str]:
    """The charts, maps and tables that are covered from end to end: a fence of question marks."""
    for view, data, blocks in screen.views:
        cells = (data.get("covers") or {}).get("cells") or []
        if "values" in blocks and len(cells) > max(2, blocks["values"].size / 2):
            yield view
    for columns in screen.tables:
        cells = [str(cell) for column in [*columns.values()][1:] for cell in column]
        if cells and set(cells) <= {"?", "None", "nan"}:
            yield "table"


def twins(screen: Screen) -> Iterator[str]:
    """The views whose maps are all the same."""
    for view, data, blocks in screen.views:
        if "maps" in data and "values" in blocks and len(data["maps"]) > 1:
            first, *rest = blocks["values"].reshape(len(data["maps"]), -1)
            if all(np.array_equal(first, values, equal_nan=True) for values in rest):
                yield view


def ordered_charts(screen: Screen, after_screen: Screen) -> Iterator[str]:
    """The covered charts whose bars are named in the order of the numbers that are covered."""
    for (view, data, _), (_, after, blocks) in zip(screen.views, after_screen.views, strict=False):
        if "series" in data and (data.get("covers") or {}).get("cells") and data["labels"] == after.get("labels"):
            values = blocks["values"]
            if values.size > 3 and (np.diff(values) <= 0).all() and len(data["covers"]["cells"]) > 1:
                yield view


def names_in_order(screen: Screen, key: Key) -> Iterator[str]:
    """The views that name the steps that are to be put in order, in this order."""
    order = key.right[0]
    assert isinstance(order, tuple)
    for view, data, _ in screen.views:
        texts = [leaf for leaf in leaves(data) if isinstance(leaf, str)]
        places = [[at for at, text in enumerate(texts) if text.endswith(str(code))] for code in order]
        firsts = [min(places_of) for places_of in places if places_of]
        if len(firsts) >= 3 and firsts == sorted(firsts):
            yield view


def page_sentences(page: str, lang: str) -> set[str]:
    """Return the whole sentences of a page's sections, as they stand in its file."""
    names = {name for name in sentences(lang) if name.startswith(f"{page}.")} - ABOUT
    return {text for name in names if (text := sentences(lang)[name]).endswith(FULL_STOPS)}


def faults(step: Step, lang: str, key: Key, screen: Screen, after: Screen) -> Iterator[str]:
    """Yield what a step's screen gives away while its question is open, but for numbers and words."""
    if step.ask.kind == "order":
        yield from (f"the order: {view}" for view in names_in_order(screen, key))
    yield from (f"a sentence: {text}" for text in page_sentences(step.page, lang) & {*screen.sentences})
    yield from (f"a fence: {view}" for view in fences(screen))
    yield from (f"twins: {view}" for view in twins(screen))
    yield from (f"the order of its bars: {view}" for view in ordered_charts(screen, after))


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.long)])
@pytest.mark.parametrize("lesson", [lesson.name for lesson in lessons()])
def test_open_question_shows_no_answer(open_app, monkeypatch, lesson, lang):
    """No picture, table, text, title or alternative text has the answer; nor has the step before."""
    answers, step_before, problems = secrets(monkeypatch), None, list[str]()
    for number, step in enumerate(lesson_named(lesson).steps, 1):
        app = open_app(step.page, lesson=lesson, lesson_step=number, lang=lang)
        bar = bar_state(app)
        assert bar["question"] and not (bar["premise"] or bar["done"] or bar["reveal"] or bar["why"] or bar["right"])
        assert pictures(app) or step.covers, "the picture is there"
        screen, cover = screen_of(app), answers["cover"]
        assert cover is None or cover.is_open
        do(app.session_state["_lessons"][lesson, number], "reveal", None)
        app.run()
        after, key = screen_of(app), answers["key"]
        assert after.bar["reveal"] and not any(covers.get("open") for covers in covers_of(after))
        if step.ask.kind not in IN_THE_PAGE:
            shown_values = SHOWN_VALUES.get((lesson, number), ())
            values = {name: of for name, of in secret_values_of(key, step).items() if name not in shown_values}
            words = answer_words(key, step, answers["subject"].labels) & screen.words
            visible = [*words, *(name for name in values if screen.holds(values[name]))]
            early = [name for name in values if step_before and step_before.holds(values[name])]
            problems += [f"{number}: the answer: {name}" for name in visible]
            problems += [f"{number}: the step before has {name}" for name in early]
            problems += [f"{number}: {fault}" for fault in faults(step, lang, key, screen, after)]
        bar_texts = [str(after.bar[text]) for text in ("text", "question", "reveal")]
        texts = screen.sentences + after.sentences + bar_texts
        step_before = Screen({}, screen.views + after.views, texts, screen.tables)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("number", [3, 6])
def test_wall_lacks_covered_cells(open_app, monkeypatch, number):
    """Of the maps of all heads, the cells that are asked are empty; the maps of a comparison are what they were."""
    answers = secrets(monkeypatch)
    app = open_app("heads", lesson="ten_minutes", lesson_step=number, lang="zh", section="all")
    walls = {data["channel"]: (data, blocks) for _, data, blocks in messages(app) if data.get("kind") == "wall"}
    assert walls["compare"][0]["what"] == "difference"
    data, blocks = walls["grid"]
    assert not blocks["values"].reshape(-1, data["rows"], data["columns"])[:, answers["cover"].places].any()


def test_few_steps_cover_whole_sections():
    """A section that is kept back as a whole leaves an empty frame: at most four steps of all lessons have one."""
    whole_sections = [(name, number) for name, number in STEPS if lesson_named(name).steps[number - 1].covers]
    assert len(whole_sections) <= 4, whole_sections


@pytest.mark.parametrize(("lesson", "number", "lang"), [("ten_minutes", 1, "zh"), ("does_it_explain", 5, "en")])
def test_answer_shows_row_asked_for(open_app, lesson, number, lang):
    """The bars are of the row that the explanation speaks of, and marked, where the text opens on another row."""
    app = open_app("heads", lesson=lesson, lesson_step=number, lang=lang)
    do(app.session_state["_lessons"][lesson, number], "reveal", None)
    assert any(covers["cells"] for covers in covers_of(screen_of(app.run())))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_names_end_without_full_stop(lang):
    """While a question is open what ends with one is held back: a name without a word, as "1.", would be blank."""
    ends = [text for text in sentences(lang).values() if text.endswith(FULL_STOPS)]
    assert [text for text in ends if not any(map(str.isalpha, re.sub(r"\{[^}]*\}", "", text)))] == []


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
