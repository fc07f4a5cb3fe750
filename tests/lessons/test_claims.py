"""Sentences of lessons, held to be true for every answer, text, mask and model that they may be shown for."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from string import Formatter
from typing import Any

import numpy as np
import pytest
import torch

from tests.lessons.samples import D_K, D_MODEL, SEEDS, H, Sample, sample, softmax
from viz.core import masks
from viz.core.heads import HeadWeights, merge_heads, multi_head
from viz.core.positions import rope
from viz.core.spec import AttentionSpec
from viz.lessons.answers import ANSWERS
from viz.lessons.key import Key, PremiseError
from viz.lessons.lesson import Ask, Lesson, Step
from viz.lessons.lesson_file import lessons

STEPS = [(lesson, number) for lesson in lessons() for number in range(1, len(lesson.steps) + 1)]
WITHIN = {"step_by_step", "convolution"}
"""Pages with numbers of their own, whose words are never a tokenizer's."""
ON_TEXTS = [(lesson, number) for lesson, number in STEPS if lesson.steps[number - 1].page not in WITHIN]


def ids(value: Any) -> str:
    return getattr(value, "name", str(value))


def sentences_of(step: Step) -> Iterator[tuple[str, str, str]]:
    """Name, language and text of all sentences of a step."""
    ask = step.ask
    sentences = {"text": step.text, "note": step.note, "question": ask.question, "hint": ask.hint, "reveal": ask.reveal}
    sentences |= {f"wrong.{code}": sentence for code, sentence in ask.wrong.items()}
    sentences |= {f"options.{code}": sentence for code, sentence in ask.options.items()} | {"why": step.why}
    for name, sentence in sentences.items():
        for lang, text in sentence.items():
            yield name, lang, text


def keys_of(ask: Ask) -> Iterator[tuple[Sample, Key]]:
    """The keys of a question on all random sentences of which it can be asked; English arguments."""
    for seed in SEEDS:
        example = sample(seed)
        try:
            yield example, ANSWERS[ask.answer].work(example.subject, **ask.arguments["en"])
        except PremiseError:
            continue


# --- Marks are no words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lesson", "number"), ON_TEXTS, ids=ids)
def test_lesson_words_are_never_marks(lesson: Lesson, number: int):
    """No answer is a mark where a word is asked for, and a sentence that names one calls it a token or a mark."""
    step = lesson.steps[number - 1]
    for example, key in keys_of(step.ask):
        marks = {
            label for label, special in zip(example.subject.labels, example.subject.special, strict=True) if special
        }
        if step.ask.kind == "word":
            assert not any(example.subject.special[int(str(place))] for place in key.right)
        wrong = [key.wrong(word) for word in example.subject.words] if step.ask.kind == "word" else []
        cases = [("", key.values), *((f"wrong.{code}", {**key.values, **values}) for code, values in wrong)]
        for name, lang, text in sentences_of(step):
            fields = {field.partition("|")[0] for _, field, _, _ in Formatter().parse(text) if field}
            for where, values in cases:
                marked_fields = {field for field in fields if values.get(field) in marks}
                if marked_fields and where in ("", name):
                    assert re.search(r"token|词元|is no word|不是词", text), (name, lang, text, marked_fields)


@pytest.mark.parametrize(("lesson", "number"), ON_TEXTS, ids=ids)
def test_word_answer_is_never_punctuation(lesson: Lesson, number: int):
    """A full stop with the largest weight is no answer to "which word": the largest weight of a word is."""
    ask = lesson.steps[number - 1].ask
    if ask.kind != "word":
        return
    arguments = {**ask.arguments["en"], **({"query": "it"} if "query" in ask.arguments["en"] else {})}
    for seed in SEEDS:
        subject = sample(seed).subject
        labels = tuple("." if label not in ("it", "[CLS]", "[SEP]", "animal") else label for label in subject.labels)
        try:
            key = ANSWERS[ask.answer].work(replace(subject, labels=labels), **arguments)
        except PremiseError:
            continue
        assert {labels[int(str(place))] for place in key.right} <= {"it", "animal"}


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=ids)
def test_reveal_states_a_number(lesson: Lesson, number: int):
    """A reveal says how much; the order of steps and a lookup by hand are its exceptions."""
    ask = lesson.steps[number - 1].ask
    if ask.answer in ("order_of_steps", "pooled"):
        return
    words = {"query": "it", "key": "animal", "first": "animal", "second": "street"}
    arguments = {
        name: words.get(name, value) if isinstance(value, str) else value for name, value in ask.arguments["en"].items()
    }
    _, key = next(keys_of(replace(ask, arguments={"en": arguments})))
    for text in ask.reveal.values():
        fields = {field.partition("|")[0] for _, field, _, _ in Formatter().parse(text) if field}
        assert any(isinstance(key.values[field], int | float) for field in fields), text


@pytest.mark.parametrize(("lesson", "number"), ON_TEXTS, ids=ids)
def test_lesson_counts_tokens_as_tokens(lesson: Lesson, number: int):
    """The number of tokens counts the marks, so it is never called a number of words."""
    for name, lang, text in sentences_of(lesson.steps[number - 1]):
        assert not re.search(r"\|words?[|}]|\}\s?个词(?!元)", text), (name, lang, text)


def test_query_like_mark_is_no_word():
    """A query spelled like a mark counts as no word."""
    with pytest.raises(PremiseError, match="no_word"):
        ANSWERS["looks_at_most"].work(sample(3).subject, query="[CLS]")


# --- What a mask, positions and a bias change ----------------------------------------------------------------------


def test_shuffled_equal_words_have_two_answers():
    subject = sample(0).subject
    x = subject.trace.x[:1].expand(len(subject.labels), -1)
    trace = multi_head(x, x, subject.trace.projections)
    assert ANSWERS["shuffled"].work(replace(subject, trace=trace)).right == ("words", "places")


def test_shuffled_on_model_is_omitted():
    """A model's vectors hold its positions: the sentence that they do not would be false."""
    with pytest.raises(PremiseError, match="knows_places"):
        ANSWERS["shuffled"].work(replace(sample(0).subject, chosen={"source": "model"}))


def test_pooled_heads_keep_their_positions():
    """K is pooled as attention sees it: turned by RoPE, with a bias of its own, and under the mask that is laid."""
    spec, n = AttentionSpec(d_model=D_MODEL, n_heads=H, d_head=6), 9
    generator = torch.Generator().manual_seed(1)
    weights, x = HeadWeights.random(spec, seed=2), torch.randn(n, D_MODEL, generator=generator)
    q, k, v = (torch.randn(H, n, 6, generator=generator) for _ in range(3))
    q, k = (rope(values, pairing="halves") for values in (q, k))
    bias, mask = torch.randn(H, n, n, generator=generator), masks.causal(n, n)
    trace = merge_heads(q, k, v, weights, x=x, memory=x, allowed=mask, bias=bias)
    means = np.repeat(k.numpy().reshape(2, H // 2, n, 6).mean(1), H // 2, 0)
    scores = np.einsum("hqd,hkd->hqk", q.numpy(), means) / 6**0.5 + bias.numpy()
    after = softmax(np.where(mask.numpy(), scores, -np.inf))
    change = float(np.abs(after - trace.weights.numpy()).sum(-1).mean() / 2)
    key = ANSWERS["pooled"].work(replace(sample(0).subject, trace=trace), groups=2)
    assert key.values["moved"] == pytest.approx(change, abs=1e-5)


@pytest.mark.parametrize("answer", ["most_goes_to", "sink_head"])
def test_even_share_counts_open_cells(answer: str):
    """Under a causal mask the first token is looked at by all, so that an even spread gives it far more than 1 / n."""
    n_cases = 0
    for seed in SEEDS:
        example = sample(seed)
        try:
            key = ANSWERS[answer].work(example.subject)
        except PremiseError:
            continue
        open_cells = example.weights[example.subject.layer] > 0
        even = open_cells / open_cells.sum(-1, keepdims=True)
        expected = even[:, :, 0].sum() / even.sum() if answer == "most_goes_to" else even[:, 1:, 0].mean()
        assert key.values["even"] == pytest.approx(expected, abs=1e-6)
        n_cases += not open_cells.all()
    assert n_cases > 10


def test_first_row_with_context_is_omitted():
    subject = sample(5).subject
    n = len(subject.labels)
    elsewhere = torch.eye(n, dtype=torch.bool).roll(1, 1)
    trace = multi_head(subject.trace.x, subject.trace.x, subject.trace.projections, allowed=elsewhere)
    with pytest.raises(PremiseError, match="not_alone"):
        ANSWERS["first_row"].work(replace(subject, trace=trace))


def _with_bias() -> Iterator[Sample]:
    yield from (example for example in map(sample, SEEDS) if example.bias.any() and "it" in example.subject.labels)


def test_unmasked_weights_need_plain_scores():
    """A bias of a blocked pair is not stored, so that the weights without the mask are unknown."""
    n_asked = 0
    for example in _with_bias():
        if example.subject.trace.allowed is not None and "animal" in example.subject.labels:
            with pytest.raises(PremiseError, match=r"more_steps|all_open|not_open"):
                ANSWERS["with_the_mask"].work(example.subject, query="it", key="animal")
            n_asked += 1
    assert n_asked > 5


def test_query_number_with_bias_is_omitted():
    """The question says: the word's numbers times a column, added up. With a bias that is another number."""
    subject = sample(0).subject
    projections = replace(subject.trace.projections, b_q=torch.ones(H * D_K, dtype=torch.float64))
    trace = multi_head(subject.trace.x, subject.trace.x, projections)
    with pytest.raises(PremiseError, match="more_steps"):
        ANSWERS["query_number"].work(replace(subject, trace=trace), word=0, column=0)


def test_score_of_other_scale_is_omitted():
    subject = sample(0).subject
    trace = multi_head(subject.trace.x, subject.trace.x, subject.trace.projections, scale=1.0)
    with pytest.raises(PremiseError, match="more_steps"):
        ANSWERS["scaled_score"].work(replace(subject, trace=trace), query=0, key=1)


def test_head_width_divides_width_of_heads():
    """Some models' heads are together wider or narrower than a token's vector: their width is divided."""
    key = ANSWERS["head_width"].work(sample(0).subject)
    assert H * D_K != D_MODEL
    assert key.values["width"] == H * D_K == key.values["H"] * key.right[0] and key.traps["whole"] == H * D_K


# --- What hints and reveals say ----------------------------------------------------------------------------------

Holds = Callable[[Sample, Key], bool]


def number_of(key: Key, name: str) -> float:
    """Return one of the numbers that a reveal is filled with."""
    value: Any = key.values[name]
    return float(value)


# --- What a reveal says, for each of its keys -----------------------------------------------------------------------


def _compares(first_name: str, second_name: str) -> Holds:
    """The two numbers of the reveal stand to each other as the answer says."""

    def holds(_: Sample, key: Key) -> bool:
        first, second = number_of(key, first_name), number_of(key, second_name)
        order = {"more": first > second, "less": first < second, "same": abs(first - second) <= 0.05 * max(1.0, second)}
        return order[str(key.right[0])]

    return holds


def _sum_to_one(_: Sample, key: Key) -> bool:
    return abs(sum(number_of(key, code) for code in ("first", "itself", "beside", "far")) - 1) < 1e-5


def _best_of_words(example: Sample, key: Key) -> bool:
    """This word gets the largest weight, and the stated one."""
    subject = example.subject
    (place,) = (at for at in subject.words if subject.name(at) == key.values["query"])
    row = example.row_of_head[place][1:-1]
    name, weight = ("key", "weight") if "key" in key.values else ("most", "most_weight")
    is_most = subject.name(1 + int(row.argmax())) == key.values[name]
    return is_most and bool(abs(row.max() - number_of(key, weight)) < 1e-6)


def _rows_that_are_read(example: Sample, key: Key) -> bool:
    head = example.subject.head
    rows = example.subject.trace.projections.w_q[:, head * D_K : (head + 1) * D_K].abs().sum(-1)
    return int((rows > 0).sum()) == key.values["n"]


def _is_sum(example: Sample, key: Key) -> bool:
    parts = example.subject.trace.contributions
    lengths = parts.norm(dim=-1).mean(-1)
    return (
        bool(torch.allclose(parts.sum(0), example.subject.trace.output)) and int(lengths.argmax()) == key.values["most"]
    )


TRUE_OF: dict[str, Holds] = {
    "looks_back": _compares("back", "there"),
    "prefers": _best_of_words,
    "looks_at_most": _best_of_words,
    "most_goes_to": _sum_to_one,
    "arrives": _compares("message", "weight"),
    "value_length": _compares("first", "others"),
    "sharp_and_strong": _compares("length", "mean"),
    "with_the_mask": _compares("now", "was"),
    "reads": _rows_that_are_read,
    "joined": _is_sum,
    "heads_in_output": lambda _, key: (key.values["n"] == key.values["H"]) == (key.right == ("all",)),
    "one_head_instead": lambda _, key: (key.values["single"] == key.values["many"]) == (key.right == ("same",)),
    "parameters_saved": _compares("saved", "of_cache"),
    "wrong_order": lambda _, key: (number_of(key, "n") > 0) == (key.right == ("silent",)),
    "pooled": lambda _, key: (number_of(key, "moved") > 0.01) == (key.right == ("changed",)),
    "shuffled": lambda _, key: "words" in key.right,
    "same_as_training": lambda _, key: key.right == ("same",),
    "reads_of_earlier": lambda _, key: key.right == ("keys_values",),
    "words_with_a_chance": lambda _, key: (key.values["n"] == key.values["vocabulary"]) == (key.right == ("all",)),
    "likelier": lambda _, key: (
        (number_of(key, "first_chance") > number_of(key, "second_chance")) == (key.right == ("first",))
        or key.right == ("same",)
    ),
    "hotter": lambda _, key: number_of(key, "hot") <= number_of(key, "chance") + 1e-9,
    "rows_a_feed_forward_mixes": lambda _, key: (key.values["mixed"] == 0) == (key.right == ("none",)),
    "writes_most": lambda _, key: (
        key.values[str(key.right[0])] == max(number_of(key, name) for name in ("heads", "feed_forward", "embedding"))
    ),
    "larger_loss": lambda _, key: (
        (number_of(key, "first_moved") > number_of(key, "other_moved")) == (key.right == ("first",))
        or key.right == ("same",)
    ),
    "reason_kind": lambda _, key: number_of(key, "amount") >= number_of(key, "total") / 2,
    "meeting_word": lambda _, key: number_of(key, "amount") >= number_of(key, "total") / 2,
    "rows_after_exchange": lambda _, key: (
        key.right != ("same",) or abs(number_of(key, "after") - number_of(key, "before_b")) > 0.01
    ),
    "at_the_border": lambda _, key: key.right == ("edge",),
    "holds_the_kernel": lambda _, key: key.right == ("w_o",),
}
"""Of a question with several possible answers, what its one reveal says, whichever of them is right."""

OPTIONS = [step for step in STEPS if step[0].steps[step[1] - 1].ask.kind in ("option", "word")]


@pytest.mark.parametrize(("lesson", "number"), OPTIONS, ids=ids)
def test_reveal_is_true_of_every_key(lesson: Lesson, number: int):
    ask, keys = lesson.steps[number - 1].ask, set()
    if ask.answer == "centre":
        return  # its reveal says what the key is, and there is one
    if ask.answer == "pooled":
        return  # above: random sentences share their keys already
    words = {"query": "it", "key": "animal", "first": "animal", "second": "street"}
    ask = replace(ask, arguments={"en": {name: words.get(name, value) for name, value in ask.arguments["en"].items()}})
    for example, key in keys_of(ask):
        keys.add(key.right)
        assert TRUE_OF[ask.answer](example, key), (key, example.subject.labels)
    assert keys
