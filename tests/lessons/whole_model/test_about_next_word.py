"""The answers about the next word, beside numpy's softmax."""

from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import SEEDS, VOCABULARY, Sample, hold, sample
from viz.lessons.whole_model.about_next_word import ANSWERS, CLEAR

ARGUMENTS: dict[str, dict[str, Any]] = {
    "likelier": {"first": "animal", "second": "street"},
    "hotter": {"temperature": 2.0},
}


def softmax_of(example: Sample, temperature: float = 1.0) -> np.ndarray:
    decoder = example.subject.decoder
    assert decoder is not None
    logits = decoder.logits[decoder.at].numpy() / temperature
    exps: np.ndarray = np.exp(logits - logits.max())
    return exps / exps.sum()


def words_with_a_chance(example: Sample) -> Any:
    n = int((softmax_of(example) > 0).sum())
    return "one" if n == 1 else "all" if n == len(VOCABULARY) else "few"


def likelier(example: Sample, first: str, second: str) -> Any:
    first_chance, second_chance = (softmax_of(example)[VOCABULARY.index(word)] for word in (first, second))
    return (
        "same" if abs(first_chance - second_chance) < CLEAR else "first" if first_chance > second_chance else "second"
    )


def hotter(example: Sample, temperature: float) -> Any:
    before, after = softmax_of(example).max(), softmax_of(example, temperature).max()
    return "same" if abs(after - before) < CLEAR else "more" if after > before else "less"


def drawn_otherwise(example: Sample) -> Any:
    chances = np.sort(softmax_of(example))
    return float(100 * chances[:-1].sum())


def guessed_right(example: Sample) -> Any:
    decoder = example.subject.decoder
    assert decoder is not None
    best = decoder.logits.numpy().argmax(-1)
    n = len(decoder.ids) - 1
    return float(sum(best[i] == decoder.ids[i + 1] for i in range(n))) if n >= 3 else None


def writes_most(example: Sample) -> Any:
    decoder = example.subject.decoder
    assert decoder is not None
    first, second, _ = sorted(decoder.parts.values(), reverse=True)
    best = max(decoder.parts, key=decoder.parts.__getitem__)
    return None if first - second < CLEAR else best


REFERENCES = {work.__name__: work for work in (
    words_with_a_chance, likelier, hotter, drawn_otherwise, guessed_right, writes_most,
)}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_numpy(name):
    arguments = ARGUMENTS.get(name, {})
    if name == "likelier":  # its words are the vocabulary's, and need not be in the text
        for seed in SEEDS:
            example = sample(seed)
            assert ANSWERS[name].work(example.subject, **arguments).right == (REFERENCES[name](example, **arguments),)
        return
    hold(ANSWERS[name], REFERENCES[name], arguments, refuses=name == "guessed_right")


@pytest.mark.parametrize("name", ANSWERS)
def test_question_without_a_decoder_is_refused(name):
    from dataclasses import replace

    from viz.lessons.key import PremiseError

    with pytest.raises(PremiseError, match="no_decoder"):
        ANSWERS[name].work(replace(sample(0).subject, decoder=None), **ARGUMENTS.get(name, {}))
