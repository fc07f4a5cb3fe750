"""Sentences of lessons that have to be true of every text and head, and why a question is not asked."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.lessons.samples import SEEDS, sample
from viz.core import masks
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec
from viz.frame.format import number, part
from viz.lessons.answers import ANSWERS
from viz.lessons.key import Key, PremiseError
from viz.lessons.lesson import LANGUAGES
from viz.lessons.lesson_file import lessons
from viz.lessons.subject import Subject
from viz.text import sentences

TOLERANCE = 0.15
"""Of the question for the factor by which the other weights grow."""


def keys(answer: str, **arguments: Any) -> Iterator[tuple[Any, Key]]:
    """Return the keys of a question on all random sentences of which it can be asked."""
    for seed in SEEDS:
        try:
            yield sample(seed), ANSWERS[answer].work(sample(seed).subject, **arguments)
        except PremiseError:
            continue


def value(key: Key, name: str) -> float:
    number_of: Any = key.values[name]
    return float(number_of)


def on_words(*labels: str, mask: torch.Tensor | None = None, sharp: float = 1.0) -> Subject:
    """Random heads on these words."""
    weights = HeadWeights.random(AttentionSpec(d_model=8, n_heads=2), seed=0)
    x = torch.randn(len(labels), 8, generator=torch.Generator().manual_seed(0))
    trace = multi_head(x, x, replace(weights, w_q=weights.w_q * sharp), allowed=mask)
    return Subject(labels=labels, special=(False,) * len(labels), trace=trace, weights_of=lambda _: trace.weights)


def _values_and_weights(example: Any) -> tuple[float, float, float]:
    """Length of the first token's value, and the others' mean length: plain, and by weight."""
    head = example.subject.head
    lengths = (example.messages[head] ** 2).sum(-1) ** 0.5
    weights = example.row_of_head.sum(0)[1:]
    return float(lengths[0]), float(lengths[1:].mean()), float((weights * lengths[1:]).sum() / weights.sum())


# --- What stands there now --------------------------------------------------------------------------------------------


def test_more_arrives_of_longer_value():
    """The first token brings more than its weight where its value is longer than the others' mean by weight."""
    cases = [(_values_and_weights(example), key.right[0]) for example, key in keys("arrives")]
    assert len({code for _, code in cases}) == 3
    assert all(first > by_weight for (first, _, by_weight), code in cases if code == "more")
    assert all(first < by_weight for (first, _, by_weight), code in cases if code == "less")


def test_factor_follows_from_printed_rest():
    """The factor can be worked out of the number that is stated; it could not of the weight with two digits."""
    n_off = 0
    for _, key in keys("growth_without_first"):
        factor = value(key, "factor")
        assert abs(1 / float(number(value(key, "rest"), 3)) - factor) < TOLERANCE
        n_off += abs(1 / (1 - float(part(value(key, "weight")))) - factor) > TOLERANCE
    assert n_off


def test_most_is_said_of_words():
    """A mark may get more than every word, so that "the most" is said of the words."""
    n_cases = 0
    for lesson in lessons():
        for step in lesson.steps:
            if step.page != "heads" or step.ask.answer not in ("looks_at_most", "prefers", "looks_away"):
                continue
            for text in (step.ask.reveal, step.why, step.ask.wrong.get("neither", {})):
                for lang in text:
                    if re.search(r"\bmost\b|From “|最多|从“", text[lang]):
                        assert re.search("[Oo]f the words|各个词中", text[lang]), text[lang]
                        n_cases += 1
    assert n_cases > 10


WITH_MARGIN = ("looks_back", "value_length", "arrives", "with_the_mask", "hotter", "larger_loss", "likelier")


def test_same_within_margin_is_about():
    """Of numbers that differ by less than a margin the lessons say "about", and not that none is larger."""
    n_cases = 0
    for ask in (step.ask for lesson in lessons() for step in lesson.steps):
        if ask.answer in (*WITH_MARGIN, "sharp_and_strong", "parameters_saved"):
            assert ask.options["same"]["en"].startswith("about") and "差不多" in ask.options["same"]["zh"]
            n_cases += 1
            for reason in {"less", "more", "first", "other"} & {*ask.wrong}:
                assert not re.match("(Not here|Not less|Not more|Not longer):?", ask.wrong[reason]["en"])
                assert not re.match("这里不是|并不更", ask.wrong[reason]["zh"])
    assert n_cases == 11


def test_equal_words_have_their_places():
    """Of two equal words a sentence says which is meant; a word that stands once has its name alone."""
    subject = on_words("the", "cat", "saw", "the", "dog")
    assert [subject.name(place) for place in range(5)] == ["0 · the", "cat", "saw", "3 · the", "dog"]
    assert subject.name(-2) == "3 · the"
    for query in ("the", "saw"):
        try:
            values = ANSWERS["looks_at_most"].work(subject, query=query).values
        except PremiseError as error:
            values = error.values
        assert "the" not in values.values()


# --- Why a question is not asked -------------------------------------------------------------------------------------


def refusal(answer: str, subject: Subject, **arguments: Any) -> str:
    with pytest.raises(PremiseError) as refusal_info:
        ANSWERS[answer].work(subject, **arguments)
    return refusal_info.value.code


def test_refusal_names_its_cause():
    """Each cause has its own sentence: no mask, an open row, a blocked cell, a row that loses nothing, a short text."""
    words, causal = ("the", "cat", "saw"), masks.causal(3, 3)
    masked, plain = on_words(*words, mask=causal), on_words(*words)
    assert refusal("with_the_mask", plain, query="cat", key="the") == "no_mask"
    assert refusal("with_the_mask", masked, query="saw", key="the") == "all_open"
    assert refusal("with_the_mask", masked, query="cat", key="saw") == "not_open"
    assert refusal("weight", masked, query=1, key=2) == "not_open"
    assert refusal("weight_under_mask", plain, query=1, key=0) == "no_mask"
    assert refusal("weight_under_mask", on_words(*words, mask=causal, sharp=0), query=1, key=2) == "not_open"
    assert refusal("first_row", on_words("cat")) == "too_short"
    assert refusal("first_row", plain) == "not_alone"
    assert refusal("sharp_and_strong", on_words("the", "cat")) == "too_short"
    assert refusal("centre", on_words("the", "cat", "saw", "a", ","), place=1, offset=3, alpha=2.0) == "sign_there"
    assert refusal("likelier", sample(0).subject, first="animal", second="animal") == "same_token"
    assert refusal("likelier", sample(0).subject, first="animal", second="zebra") == "not_writable"


def test_whole_weight_makes_a_sink():
    """A first token with nearly the whole row is not refused as one with too little."""
    masked = torch.tensor([0.0, -9, -9, -9]).expand(1, 4, 4)
    subject = on_words("the", "cat", "saw", "me")
    trace = replace(subject.trace, masked=masked, weights=masked.softmax(-1))
    assert refusal("growth_without_first", replace(subject, trace=trace)) == "all_to_first"


@pytest.mark.parametrize("answer", ["left_over", "sum_when_nothing_fits", "first_share"])
def test_sum_below_one_is_not_asked(answer: str):
    """A learned sink takes a part of each row; a mean share can be asked for all the same."""
    subject = on_words("the", "cat", "saw", "me")
    shrunk = replace(subject, trace=replace(subject.trace, weights=subject.trace.weights * 0.7))
    arguments: dict[str, dict[str, Any]] = {"left_over": {"query": "cat"}, "sum_when_nothing_fits": {"lower": 5}}
    if answer == "first_share":
        assert ANSWERS[answer].work(shrunk).right
    else:
        assert refusal(answer, shrunk, **arguments[answer]) == "not_whole"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_refusal_has_a_sentence(lang: str):
    codes = {
        code
        for path in Path("viz/lessons").rglob("*.py")
        for code in re.findall(r'PremiseError\((?:[^()"]*if [^()]*else )?"(\w+)"', path.read_text("utf-8"))
    }
    assert len(codes) > 15
    assert {f"lesson.premise_{code}" for code in codes} <= set(sentences(lang))
