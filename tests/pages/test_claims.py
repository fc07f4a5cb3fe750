"""Sentences of pages that were true of some texts, models and settings only: shown to fail, and gone."""

import re
from collections.abc import Callable

import pytest
import torch

from pages.atlas.context import own_lines
from pages.many_heads.logic import summary_key
from pages.many_heads.two_places import loss
from tests.packaged import packaged_file
from viz.core import masks
from viz.core.attention import row_softmax
from viz.core.cost.attention import parameters
from viz.core.cost.model import model_flops, overtakes
from viz.core.heads import HeadWeights, multi_head
from viz.core.long.shapes import CLOSE
from viz.core.spec import AttentionSpec
from viz.core.variants.relative import quadratic_scores
from viz.frame.examples import minimal_pairs
from viz.frame.format import number
from viz.lessons.lesson_file import lesson_named
from viz.models import registry
from viz.models.atlas.corpus import LENGTH, SEQUENCES
from viz.models.atlas.corpus import sentences as lines
from viz.models.packaged import gguf, parts
from viz.models.presets import presets
from viz.text import LANGUAGES, sentences, translator


def _undivided_picks_one_key() -> bool:
    """At a start of training from small random numbers."""
    x = torch.nn.functional.layer_norm(torch.randn(12, 384, generator=torch.Generator().manual_seed(0)), (384,))
    w_q, w_k = (0.02 * torch.randn(384, 32, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
    return float(row_softmax((x @ w_q) @ (x @ w_k).T).amax(-1).median()) > 0.9


def _shared_never_takes_one_part() -> bool:
    """With a single head H is 1, and one set of keys and values takes 1/H of the parameters."""
    spec = AttentionSpec(d_model=8, n_heads=1)
    return parameters(spec).total != parameters(AttentionSpec(d_model=8, n_heads=1, n_kv_heads=1)).total


def _half_way_two_are_alike() -> bool:
    """In the last row of a window whose centre lies half a place beyond it there is no second place."""
    row = row_softmax(quadratic_scores(torch.tensor([[0.5]]), torch.tensor([30.0]), (5,)))[0, -1]
    return int((row > 0.9 * row.max()).sum()) == 2


def _attention_alone_forgets_order() -> bool:
    """Under a causal mask the same words in another order are looked at otherwise, without any positions."""
    weights = HeadWeights.random(AttentionSpec(d_model=8, n_heads=2), seed=0)
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    plain, rotated = (multi_head(of, of, weights, allowed=masks.causal(5, 5)).weights for of in (x, x.flip(0)))
    return torch.allclose(rotated, plain.flip(1, 2), atol=1e-5)


def _longer_vectors_raise_the_largest_score() -> bool:
    """Negative dot products only: longer vectors lower the largest one."""
    scores = torch.tensor([[-0.5, -2.0]])
    return float((2 * scores).max()) > float(scores.max())


def _own_lines_are_two_hundred() -> bool:
    return len(own_lines("one line\nand another")) == 200


def _no_head_turns_in_every_pair() -> bool:
    return summary_key(torch.tensor([[0, 3], [10, 1]]), 10) == "found"


def _largest_of_three_is_most() -> bool:
    return max(0.4, 0.35, 0.3) > 0.5


def _every_row_sums_to_one() -> bool:
    """A row that may look nowhere sums to 0."""
    return float(row_softmax(torch.full((1, 3), -torch.inf)).sum()) == 1


def _last_value_is_another() -> bool:
    """Of a text of one token the last value is the first."""
    values = torch.ones(1, 4)
    return not torch.equal(values[0], values[-1])


def _rounded_number_bounds() -> bool:
    """A number that is rounded to two digits may be smaller than itself."""
    return float(number(0.1249)) >= 0.1249


REMOVED_SENTENCES: dict[str, tuple[str, Callable[[], bool]]] = {
    "undivided, the softmax would then give nearly all": ("训练开始时，查询和键都是随机数", _undivided_picks_one_key),
    "this is how a model starts": ("模型刚开始训练时的样子", _undivided_picks_one_key),
    "never 1/H of the parameters": ("绝不会是 1/H", _shared_never_takes_one_part),
    "always two alike if": ("则总是两个同样多", _half_way_two_are_alike),
    "attention by itself does not know the order": ("因为注意力自己并不知道顺序", _attention_alone_forgets_order),
    "Attention by itself does not know in which order": (
        "注意力本身不知道词的先后，必须",
        _attention_alone_forgets_order,
    ),
    "longer vectors would make it larger": ("向量越长它越大", _longer_vectors_raise_the_largest_score),
    "does over two hundred sentences, not over one": ("在两百个句子上（而不是一个句子上）", _own_lines_are_two_hundred),
    "no head here is the expert for logic": ("这里没有哪个头是逻辑专家。从", _no_head_turns_in_every_pair),
    "which of three shapes has most of their attention": ("占了它们最多的注意力", _largest_of_three_is_most),
    "which of three shapes holds most of their attention": ("占了它们大部分的注意力", _largest_of_three_is_most),
    "Every row sums to **{sum}**": ("每行之和是 **{sum}**", _every_row_sums_to_one),
    "of a row on average, and its rows sum to 1": ("给第一个词元，每行之和是 1", _every_row_sums_to_one),
    "comes again with another value": ("再次出现，配上另一个值", _last_value_is_another),
    "no weight differs from RoPE's by more than": ("每个权重与 RoPE 的相差都不超过", _rounded_number_bounds),
}
"""A sentence in both languages, and a case in which it does not hold."""


@pytest.mark.parametrize("phrase", REMOVED_SENTENCES)
def test_false_sentence_removed(phrase):
    chinese, holds = REMOVED_SENTENCES[phrase]
    assert not holds(), "if it held, it could stay"
    for lang, text in (("en", phrase), ("zh", chinese)):
        assert not [key for key, sentence_texts in sentences(lang).items() if text in sentence_texts]


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


@pytest.mark.parametrize(
    ("counts", "key"), [([0, 0], "found_none"), ([3, 9], "found"), ([10, 2], "found_every"), ([10, 10], "found_every")]
)
def test_logic_conclusion_follows_the_best_head(counts, key):
    """A head that turns in every pair is not called no expert by a sentence that was written before it was found."""
    assert summary_key(torch.tensor([counts]), 10) == key
    for lang in LANGUAGES:
        sentence_texts = sentences(lang)[f"many_heads.logic.{key}"]
        assert bool(re.search("none here is an expert|没有哪个头是逻辑专家", sentence_texts)) == (key == "found")


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


def test_attention_overtakes_in_most_models():
    """The lead of the models' costs, counted over the models that are listed there."""
    entries = [preset.model for preset in presets()]
    short = [model_flops(model, n_tokens=16) for model in entries]
    smaller = [flops.projections + flops.pairs < flops.feed_forward for flops in short]
    later = [(overtakes(model) or 0) > 1 for model in entries]
    both = sum(a and b for a, b in zip(smaller, later, strict=True))
    assert 2 * both > len(entries), (both, len(entries))
    assert "In most real models attention is the smaller part" in sentences("en")["cost.models.lead"]


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
