"""Numbers of sentences that divide a row, or the vocabulary's probabilities: as they are printed they add up to 1."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.lessons.samples import SEEDS, sample
from viz import ROOT
from viz.lessons.answers import ANSWERS
from viz.lessons.key import PremiseError
from viz.lessons.lesson import LANGUAGES
from viz.lessons.lesson_file import lessons
from viz.modes.lesson.asked import format_values
from viz.text import sentences

NODE = shutil.which("node")
DIVIDED = {
    "left_over": ("weight", "left"),
    "gate_of_sink": ("gate", "nobody"),
    "growth_without_first": ("weight", "rest"),
    "drawn_otherwise": ("chance", "others"),
    "weight_under_mask": ("row",),
}
"""Questions whose sentences divide a row, and the values that are its parts; ``others`` is of a hundred."""
START = {"start.arcs_rest", "start.arcs_rest_itself"}
SAYS_REST = re.compile(r"\brest\b|1 (?:−|minus)|[Aa]ll others|\bremains?\b|add up to 1 again", re.IGNORECASE)
NO_SHARES = {
    *(
        "positions.no_positions.says",
        "many_heads.two_places.found_several",
    ),
    *("positions.no_positions.says_even", "positions.no_positions.off", "head_grid.says_list", "compare.says_list"),
    *("why.rest", "why.other_parts"),
}
"""Sentences with such a word that name one share, or no share of a row."""
RUN = """
import { describe, joinSentences } from "./viz/components/client/start/looks.js";
import { readFileSync } from "node:fs";
const { words, rows } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(rows.map(([sentence, query]) => joinSentences(describe(words, sentence, query)))));
"""


def bounds(numbers: str) -> tuple[float, float]:
    """Return the least and the largest value of a printed number."""
    value = float(numbers.lstrip("<>"))
    return (0.0, value) if numbers[0] == "<" else (value, 1.0) if numbers[0] == ">" else (value, value)


def assert_whole(numbers: list[str], sentence: str, rounding: float = 2e-6) -> None:
    """Printed parts can be those of 1."""
    low, high = (sum(ends) for ends in zip(*map(bounds, numbers), strict=True))
    assert low - rounding <= 1 <= high + rounding, (numbers, sentence)


def start_sentences(lang: str) -> Iterator[str]:
    """Return what the start page says of rows of 200 random sentences."""
    rows = []
    for seed in SEEDS:
        example = sample(seed)
        sentence = {"labels": example.subject.labels, "special": example.subject.special}
        weights = example.row_of_head.tolist()
        rows += [({**sentence, "weights": weights}, query) for query in (1, len(weights) - 2)]
    words = {key.removeprefix("start.arcs_"): text for key, text in sentences(lang).items()}
    command = [str(NODE), "--input-type=module", "--eval", RUN]
    request = json.dumps({"words": words, "rows": rows})
    answer = subprocess.run(command, input=request, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    yield from json.loads(answer)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test looks at one of these sentences")
def test_start_page_shares_sum_to_one(lang):
    """A sentence that names the rest names everything else too."""
    rest = {"en": "The rest", "zh": "其余"}[lang]
    whole_rows = [sentence for sentence in start_sentences(lang) if rest in sentence]
    assert len(whole_rows) > 100
    for sentence in whole_rows:
        assert_whole(
            re.findall(r"[<>]?\b[01]\.\d\d\b|(?<=[， ：])1(?=[,， 归])", sentence.replace("\u2068", "")), sentence
        )


@pytest.mark.parametrize("answer", DIVIDED)
def test_lesson_shares_sum_to_one(answer):
    """On 200 random sentences, with the arguments of every step that asks it."""
    steps = [step for lesson in lessons() for step in lesson.steps if step.ask.answer == answer]
    n = 0
    for step in steps:
        for seed in SEEDS:
            try:
                key = ANSWERS[answer].work(sample(seed).subject, **step.ask.arguments["en"])
            except PremiseError:
                continue
            n += 1
            values = format_values(key.values)
            if DIVIDED[answer] == ("row",):
                numbers = values["row"].strip("()").split(", ")
                assert_whole(numbers, values["row"], rounding=0.005 * len(numbers))
                continue
            numbers = [values[name] for name in DIVIDED[answer]]
            if "others" in DIVIDED[answer]:
                numbers[1] = str(float(key.values["others"]) / 100)
            assert_whole(numbers, step.ask.reveal["en"])
    assert steps and n >= 10, (len(steps), n)


def test_every_dividing_sentence_is_known():
    """A sentence with a number that speaks of the rest of a row is summed above, or is no such sentence."""
    of_pages = {key for key, text in sentences("en").items() if SAYS_REST.search(text) and re.search(r"\{\w+\}", text)}
    of_pages = {key for key in of_pages if not re.search(r"check_|\.why$|^(error|truth|note|take_away)\.", key)}
    assert of_pages - NO_SHARES == START
