"""Numbers and claims in fixed sentences of pages, each compared with what it counts."""

import re

import pytest
import torch

from pages.many_heads.two_places import loss
from tests.packaged import packaged_file
from viz.core.attention import row_softmax
from viz.core.long.shapes import CLOSE
from viz.frame.examples import minimal_pairs
from viz.lessons.lesson_file import lesson_named
from viz.models import registry
from viz.models.atlas.corpus import LENGTH, SEQUENCES
from viz.models.atlas.corpus import sentences as lines
from viz.models.packaged import gguf, parts
from viz.text import LANGUAGES, sentences, translator


def test_unit_variance_score_spread():
    """The sentence about the division: of numbers of variance 1 the spread is √d_k, and one key gets more and more."""
    generator, largest = torch.Generator().manual_seed(3), []
    for d_k in (4, 64, 512):
        q, k = torch.randn(2, 400, d_k, generator=generator)
        scores = q @ k.T
        assert abs(float(scores.std()) / d_k**0.5 - 1) < 0.05
        largest.append(float(row_softmax(scores[:, :10]).amax(-1).median()))
    assert largest == sorted(largest) and largest[-1] > 0.95
    assert "√d_k" in translator("en")("step_by_step.more_scaled")


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.85, 1.0])
def test_one_head_loses_about_half(share):
    assert 0.4 < loss(1, share) < 0.6


def test_packaged_bits_equal_file():
    """SmolLM2's layers have 4 bits a weight and its word table 8: said of the model, and most have 4."""
    file = packaged_file("SmolLM2-135M-Instruct")
    bits = _bits_of(file)
    table, rest = bits.pop("token_embd.weight"), [n for n in bits.values() if n[1] != 32]
    assert table[1] == 8 and {element[1] for element in rest} == {4}
    assert sum(n for n, _ in rest) > 0.7 * sum(n for n, _ in (table, *bits.values()))
    entry = registry.find("SmolLM2-135M-Instruct")
    assert "in 4 bits a weight, its word table in 8" in entry.why["en"]
    assert "每个权重 4 位，词表 8 位" in entry.why["zh"]
    for lang, most in (("en", "most of them"), ("zh", "大部分")):
        for key in ("source.model_own_packaged", "export.code_packaged"):
            assert most in sentences(lang)[key]
    assert "small differences" not in sentences("en")["export.code_packaged"], "nobody has measured them"


def test_numbers_in_fixed_sentences_are_counted():
    """Numbers written in sentences, each compared with its count."""
    first = lesson_named("attention_from_nothing")
    assert (len(first.steps), first.minutes) == (10, 13)
    en, zh = sentences("en"), sentences("zh")
    assert "ten questions in thirteen minutes" in en["start.new_says"]
    assert "十三分钟，十个问题" in zh["start.new_says"]
    assert (SEQUENCES, LENGTH) == (16, 24) and (CLOSE, len(minimal_pairs())) == (0.05, 10)
    for lang, sentence_texts in (("en", en), ("zh", zh)):
        assert (
            f"{SEQUENCES} " in sentence_texts["atlas.corpus_note"]
            and f" {LENGTH} " in sentence_texts["atlas.corpus_note"]
        )
        assert {str(len(lines(code))) in sentence_texts[f"atlas.corpus_{code}"] for code in LANGUAGES} == {True}, lang
        assert re.search("5 points|5 个百分点", sentence_texts["long_text.wall.why"])
        assert re.search("ten pairs|十对", sentence_texts["many_heads.logic.run"])
        assert re.search("Twenty sentences|二十个句子", sentence_texts["many_heads.logic.help"])


def _bits_of(file) -> dict[str, tuple[int, int]]:
    """Of each tensor how many numbers it has, and in how many bits."""
    formats, result = {0: 32, 3: 4, 8: 8}, {}
    cursor = parts.Cursor(file)
    cursor.take(len(gguf.MAGIC))
    _, n_tensors, n_values = cursor.numbers("IQQ")
    for _ in range(n_values):
        cursor.text("Q"), gguf._value(cursor, cursor.number("I"))
    for _ in range(n_tensors):
        name = cursor.text("Q")
        sizes = cursor.numbers("Q" * cursor.number("I"))
        kind, _ = cursor.numbers("IQ")
        n = 1
        for size in sizes:
            n *= size
        result[name] = (n, formats[kind])
    return result
