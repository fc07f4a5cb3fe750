"""The answers that are read off the weights, on 200 random sentences, beside what numpy makes of queries and keys."""

import numpy as np
import pytest

from tests.lessons.samples import Sample, sample
from viz.lessons.about_weights import ANSWERS, CLEAR
from viz.lessons.key import Key, PremiseError

SEEDS = range(200)
WORDS = {"query": "it", "first": "animal", "second": "street"}
NEEDS = {"looks_at_most": 1, "left_over": 1, "looks_back": 1, "prefers": 3}
"""How many of the words each function is given."""


def row(drawn: Sample, word: str) -> np.ndarray:
    subject = drawn.subject
    return drawn.weights[subject.layer, subject.chosen["head"], subject.labels.index(word)]


def most(weights: np.ndarray) -> int | None:
    """The place of the largest weight, if the next one is clearly smaller."""
    order = np.argsort(-weights)
    return int(order[0]) if weights[order[0]] - weights[order[1]] >= CLEAR else None


def looks_at_most(drawn: Sample, query: str) -> object:
    return most(row(drawn, query))


def left_over(drawn: Sample, query: str) -> object:
    weights = row(drawn, query)
    return None if most(weights) is None else float(np.delete(weights, weights.argmax()).sum())


def looks_back(drawn: Sample, query: str) -> object:
    subject, weights = drawn.subject, row(drawn, query)
    place = subject.labels.index(query)
    others = {j: weights[j] for j in range(1, len(weights) - 1) if j != place}
    best = max(others, key=others.__getitem__, default=None)
    if best is None or others[best] < CLEAR:
        return None
    back = drawn.weights[subject.layer, subject.chosen["head"], best, place]
    return "same" if abs(back - others[best]) < CLEAR else "more" if back > others[best] else "less"


def prefers(drawn: Sample, query: str, first: str, second: str) -> object:
    place = most(row(drawn, query))
    return None if place is None else {first: "first", second: "second"}.get(drawn.subject.labels[place], "neither")


def previous_word_head(drawn: Sample) -> object:
    n = drawn.weights.shape[-1]
    means = {
        (layer, head): float(np.mean([drawn.weights[layer, head, i, i - 1] for i in range(1, n)]))
        for layer in range(drawn.weights.shape[0])
        for head in range(drawn.weights.shape[1])
    }
    best = max(means.values())
    return None if n < 4 or best < 0.5 else {place for place, mean in means.items() if mean >= 0.9 * best}


def most_goes_to(drawn: Sample) -> object:
    weights = drawn.weights[drawn.subject.layer]
    n, sums = weights.shape[-1], dict.fromkeys(("first", "itself", "beside", "far"), 0.0)
    if n < 5:
        return None
    for i in range(n):
        for j in range(n):
            code = "first" if j == 0 else "itself" if i == j else "beside" if abs(i - j) == 1 else "far"
            sums[code] += float(weights[:, i, j].sum()) / weights.sum()
    code, second = sorted(sums, key=lambda code: -sums[code])[:2]
    return code if sums[code] - sums[second] >= CLEAR else None


def arrives(drawn: Sample) -> object:
    head = drawn.subject.chosen["head"]
    weights = drawn.weights[drawn.subject.layer, head]
    messages = weights * drawn.lengths[head]
    weight, message = weights[:, 0].sum() / weights.sum(), messages[:, 0].sum() / messages.sum()
    if weight < 2 / weights.shape[-1]:
        return None
    return "same" if abs(weight - message) < CLEAR else "more" if message > weight else "less"


REFERENCES = {work.__name__: work for work in (
    looks_at_most, left_over, looks_back, prefers, previous_word_head, most_goes_to, arrives,
)}  # fmt: skip


def test_every_function_has_a_reference():
    assert set(REFERENCES) == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_on_random_sentences_the_key_is_what_numpy_finds(name):
    words = dict(list(WORDS.items())[: NEEDS.get(name, 0)])
    asked = refused = 0
    for seed in SEEDS:
        drawn = sample(seed)
        missing = [word for word in words.values() if word not in drawn.subject.labels]
        expected = None if missing else REFERENCES[name](drawn, **words)
        try:
            key = ANSWERS[name].work(drawn.subject, **words)
        except PremiseError as error:
            refused += 1
            assert expected is None, f"seed {seed}: {error}"
            continue
        asked += 1
        assert_right(key, expected, seed)
        assert_says_why(name, key, drawn)
    assert min(asked, refused) >= 10, "both happen, and are seen"


def assert_right(key: Key, expected: object, seed: int) -> None:
    if isinstance(expected, float):
        assert list(key.right) == pytest.approx([expected], abs=1e-9), seed
    else:
        assert set(key.right) == (expected if isinstance(expected, set) else {expected}), seed


def assert_says_why(name: str, key: Key, drawn: Sample) -> None:
    """Whatever is answered wrongly has a reason that the function has announced."""
    function, (n_heads, n) = ANSWERS[name], drawn.subject.trace.weights.shape[:2]
    possible = {
        "word": range(n),
        "head": [(layer, head) for layer in range(drawn.subject.n_layers) for head in range(n_heads)],
        "option": function.codes,
        "number": [],
    }[function.kind]
    for given in set(possible) - set(key.right):
        assert key.wrong(given)[0] in function.reasons
    assert set(key.traps) <= set(function.reasons)
