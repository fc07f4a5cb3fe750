"""The three words: numbers that can be redone by hand, read with suspicion; the core's results by plain loops."""

import math

import pytest
import torch

from pages.step_by_step import hand_example, three_words
from pages.step_by_step.hand_example import COUNT, HandExample, default_numbers, from_code, to_code, with_number
from pages.step_by_step.hand_pictures import Pictures, format_number
from viz.text import translator

WORDS = ("cats", "eat", "fish")


def example(numbers=None, *, is_causal=False, words=WORDS):
    return HandExample(words=words, numbers=default_numbers() if numbers is None else numbers, is_causal=is_causal)


def some_numbers(seed):
    numbers = torch.rand(COUNT, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return tuple(round(float(number), 2) for number in 10 * numbers - 5)


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


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_core_agrees_with_loops(seed, is_causal):
    of = example(some_numbers(seed), is_causal=is_causal)
    weights, output = three_words.by_loops(of)
    assert torch.tensor(weights).sub(of.trace.weights[0]).abs().max() < 1e-6
    assert torch.tensor(output).sub(of.trace.head_outputs[0]).abs().max() < 1e-4
    assert all(check.passed for check in three_words.checks(of))
    if is_causal:
        assert of.trace.weights[0].triu(1).abs().sum() == 0


def test_output_larger_than_values_passes():
    """Its sums were once held to float32, by the size of the values alone."""
    of = example((5.0,) * 12 + (1.0,) * 32 + (2.64,) * 16 + (4.99,) * 16)
    assert of.trace.output.max() > 19 * of.trace.v.max()
    assert all(check.passed for check in three_words.checks(of))


@pytest.mark.parametrize("seed", range(3))
def test_exponentials_stay_printable(seed):
    of = example(some_numbers(seed))
    shares = of.exponentials[:, :-1] / of.exponentials[:, -1:]
    torch.testing.assert_close(shares, of.trace.weights[0], rtol=1e-9, atol=1e-12)
    assert of.exponentials[:, :-1].amax(-1).min() >= 1 and of.exponentials.max() < 450
    notes = results(pictures(of).of(7))[0]["notes"]
    assert [bool(note) for note in notes] == [shift != 0 for shift in of.shifts]


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


@pytest.mark.parametrize("seed", range(4))
def test_a_link_holds_every_number(seed):
    numbers = some_numbers(seed)
    assert from_code(to_code(numbers)) == numbers


@pytest.mark.parametrize(
    "code", ["", "1", "1_2", "x_" * 75 + "1", "_".join(["9"] * COUNT), "_".join(["nan"] * COUNT),
             "_".join(["0"] * (COUNT + 1)), "1_" * 100_000],
)  # fmt: skip
def test_invalid_code_rejected(code):
    with pytest.raises(ValueError, match=r"number|float"):
        from_code(code)


@pytest.mark.parametrize(
    "change", [("x", 3, 0, 1.0), ("x", 0, -1, 1.0), ("y", 0, 0, 1.0), ("x", 0, 0, 5.01), ("x", 0, 0, math.nan),
               ("x", 0, 0, None), ("x", 0, 0, "1e9")],
)  # fmt: skip
def test_invalid_number_rejected(change):
    with pytest.raises(ValueError, match="number"):
        with_number(default_numbers(), *change)


def test_one_number_changes_and_no_other():
    altered = with_number(default_numbers(), "w_k", 3, 1, -2.504)
    assert example(altered).inputs["w_k"][3, 1] == -2.5
    assert sum(a != b for a, b in zip(altered, default_numbers(), strict=True)) == 1


@pytest.mark.parametrize("code", ["", "a|b", "a|b|c|d", "a| |c", "||"])
def test_other_than_three_words_rejected(code):
    with pytest.raises(ValueError, match="words"):
        hand_example.read_words(code)


def test_a_long_word_is_cut():
    assert hand_example.read_words("a" * 500 + "|b|c") == ("a" * 12, "b", "c")
