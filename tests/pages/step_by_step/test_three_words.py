"""The three words: numbers that can be redone by hand, read with suspicion; the core's results by plain loops."""

import math

import pytest
import torch

from pages.step_by_step.hand_pictures import format_number
from pages.step_by_step.own_numbers.example import OwnExample, checks
from pages.step_by_step.own_numbers.numbers import Numbers, to_code
from pages.step_by_step.three_words import Pictures, default_numbers, is_small
from viz.text import translator

WORDS = ("cats", "eat", "fish")


def example(numbers=None, *, is_causal=False, words=WORDS):
    return OwnExample(words=words, numbers=numbers or default_numbers(), is_causal=is_causal)


def numbers_of(hundredths, **sizes):
    return Numbers(**({"n": 3, "d": 4, "n_heads": 1, "is_direct": False} | sizes), hundredths=tuple(hundredths))


def some_numbers(seed):
    return numbers_of(torch.randint(-500, 501, (76,), generator=torch.Generator().manual_seed(seed)).tolist())


def pictures(of):
    return Pictures(translator("en"), of)


def results(picture):
    return [pair["result"] for pair in picture["pairs"]] if "pairs" in picture else [picture["blocks"][-1]]


def read(text):
    return float(text.strip("()").replace("−", "-").replace("∞", "inf"))


def test_the_first_score_by_hand():
    """Worked by hand: q of "eat" is (2, 0, 1, 1), k of "fish" is (2, 1, −1, 2)."""
    trace = example().trace
    assert trace.q[0, 1].tolist() == [2, 0, 1, 1]
    assert trace.k[0, 2].tolist() == [2, 1, -1, 2]
    assert float(trace.scores[0, 1, 2]) == 2 * 2 + 0 * 1 + 1 * -1 + 1 * 2 == 5
    assert float(trace.weights[0, 1, 2]) == pytest.approx(math.exp(2.5) / (math.exp(1) + 1 + math.exp(2.5)), rel=1e-12)


def test_printed_numbers_give_printed_results():
    for step in (3, 4, 8, 9):
        for result in results(pictures(example()).of(step)):
            for i, row in enumerate(result["lines"]):
                for j, line in enumerate(row):
                    left_edge = [read(text) for text, role in line if role == "row"]
                    right = [read(text) for text, role in line if role == "column"]
                    by_hand = sum(a * b for a, b in zip(left_edge, right, strict=True))
                    assert format_number(round(by_hand, 2)) == line[-1][0] == result["texts"][i][j]
    for row in results(pictures(example()).of(7))[0]["lines"]:
        for line in row:
            (above,), (below,) = ([read(text) for text, role in line if role == name] for name in ("row", "column"))
            assert format_number(round(above / below, 2)) == line[-1][0]


def test_output_larger_than_values_passes():
    """Its sums were once held to float32, by the size of the values alone."""
    of = example(numbers_of((500,) * 12 + (100,) * 32 + (264,) * 16 + (499,) * 16))
    assert of.trace.output.max() > 19 * of.trace.v.max()
    assert all(check.passed for check in checks(of))


@pytest.mark.parametrize("seed", range(3))
def test_exponentials_stay_printable(seed):
    of = example(some_numbers(seed))
    exps = torch.tensor([of.exponentials(0, row) for row in range(3)], dtype=torch.float64)
    torch.testing.assert_close(exps[:, :-1] / exps[:, -1:], of.trace.weights[0], rtol=1e-9, atol=1e-12)
    assert exps[:, :-1].amax(-1).min() >= 1 and exps.max() < 450
    notes = results(pictures(of).of(7))[0]["notes"]
    assert [bool(note) for note in notes] == [of.shift(0, row) != 0 for row in range(3)]


def test_printed_matrices_equal_trace():
    """Every printed matrix is the trace's, in every picture; the numbers in a sum are its row and its column."""
    of = example(some_numbers(11))
    trace, visible = of.trace, pictures(of)
    retained = {4: [trace.scores], 5: [trace.scaled], 6: [trace.masked], 7: [trace.weights], 8: [trace.head_outputs]}
    for step, expected in (retained | {3: [trace.q, trace.k, trace.v], 9: [trace.contributions]}).items():
        for result, (values,) in zip(results(visible.of(step)), expected, strict=True):
            assert result["texts"] == [[format_number(value) for value in row] for row in values.tolist()]
    line = results(visible.of(4))[0]["lines"][0][2]
    assert [read(text) for text, role in line if role == "row"] == [
        read(format_number(q)) for q in trace.q[0, 0].tolist()
    ]
    assert [read(text) for text, role in line if role == "column"] == [
        read(format_number(k)) for k in trace.k[0, 2].tolist()
    ]


def test_link_holds_three_words_only():
    """Other sizes, Q, K and V themselves and numbers above 5 are for the section with one's own numbers."""
    assert is_small(to_code(default_numbers())) and is_small(to_code(some_numbers(1)))
    unlike = numbers_of([501] + [0] * 75), numbers_of([0] * 76, n_heads=2), numbers_of([0] * 80, n=4)
    assert not any(is_small(to_code(numbers)) for numbers in (*unlike, numbers_of([0] * 52, is_direct=True)))
    assert not any(is_small(code) for code in ("", "1_2", "x341.", "1_" * 100_000))
