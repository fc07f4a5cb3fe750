"""Numbers that a user types in: golden values, links read with suspicion, the core by loops; and the puzzles."""

import json
import math
import shutil
import subprocess

import pytest
import torch

from pages.step_by_step.hand_pictures import format_number
from pages.step_by_step.own_numbers import puzzles as game
from pages.step_by_step.own_numbers.editor import are_words, replace_word
from pages.step_by_step.own_numbers.example import OwnExample, by_loops, checks, presets
from pages.step_by_step.own_numbers.numbers import (
    DIRECT,
    MOST,
    PROJECTED,
    Numbers,
    from_code,
    hundredth,
    of_matrices,
    to_code,
)
from pages.step_by_step.own_numbers.pictures import OwnPicture, split_place
from pages.step_by_step.own_numbers.section import DEFAULT_PRESET, other_way
from tests.running import checked, link_of
from viz import limits
from viz.components.bundle import CLIENT
from viz.core.analysis.puzzles import Verdict
from viz.text import LANGUAGES, translator

WORDS = ("cats", "eat", "fish", "and", "drink", "milk")
SIZES = [(3, 2, 1), (5, 6, 3), (2, 6, 2), (6, 5, 1), (1, 1, 1)]
LARGEST = (limits.OWN_WORDS, limits.OWN_WIDTH, limits.OWN_HEADS)


def example(numbers, *, is_causal=False):
    return OwnExample(words=WORDS[: numbers.n], numbers=numbers, is_causal=is_causal)


def some(n, d, n_heads, *, is_direct=False, most=3.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    names = DIRECT if is_direct else PROJECTED
    shapes = {name: (d if name.startswith("w_") else n, d) for name in names}
    matrices = {name: (2 * torch.rand(shape, generator=generator) - 1) * most for name, shape in shapes.items()}
    return of_matrices(matrices, n_heads)


# --- What is computed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("is_direct", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_core_agrees_with_loops(size, is_direct, is_causal):
    of = example(some(*size, is_direct=is_direct, most=MOST, seed=5), is_causal=is_causal)
    weights, concat, output = by_loops(of)
    torch.testing.assert_close(torch.tensor(weights, dtype=torch.float64), of.trace.weights, atol=1e-9, rtol=1e-7)
    torch.testing.assert_close(torch.tensor(concat, dtype=torch.float64), of.trace.concat, atol=1e-6, rtol=1e-9)
    torch.testing.assert_close(torch.tensor(output, dtype=torch.float64), of.trace.output, atol=1e-5, rtol=1e-9)
    assert all(element.passed for element in checks(of))


def test_circle_attends_before_self_after():
    weights = example(presets()["circle"]).trace.weights
    n = weights.shape[-1]
    for head, step in enumerate((-1, 0, 1)):
        view_options = torch.tensor([weights[head, i, (i + step) % n] for i in range(n)])
        assert view_options.min() > 0.99, head


@pytest.mark.parametrize("name", presets())
def test_direct_qkv_keep_weights(name):
    before, after = presets()[name], other_way(presets()[name])
    assert after.is_direct is not before.is_direct
    if not before.is_direct:  # each number is rounded to a hundredth on the way
        torch.testing.assert_close(example(after).trace.weights, example(before).trace.weights, atol=0.05, rtol=0)


# --- Links -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_direct", [False, True])
@pytest.mark.parametrize("size", [*SIZES, LARGEST])
def test_code_round_trip_and_length(size, is_direct):
    numbers = some(*size, is_direct=is_direct, most=MOST, seed=7)
    code = to_code(numbers)
    assert from_code(code) == numbers
    assert len(code) == 5 + 2 * len(numbers.hundredths) <= 365
    assert code.isascii() and not set(code) & set("&=?#%+ /")


def test_limits_of_numbers():
    numbers = of_matrices({"q": [[-MOST]], "k": [[MOST]], "v": [[-0.01]], "w_o": [[0.01]]}, 1)
    assert from_code(to_code(numbers)).matrices["q"].item() == -MOST
    assert of_matrices({"q": [[1e9]], "k": [[-1e9]], "v": [[0]], "w_o": [[0]]}, 1).hundredths[:2] == (2000, -2000)


SHORT = to_code(presets()["three_rows"])


@pytest.mark.parametrize(
    "code",
    ["", ".", "x", "nan", SHORT[:-1], SHORT[:-2], SHORT + "A", SHORT + "AA", "q32" + SHORT[4:], "A" * 10_000,
     "x999." + "A" * 10_000, "q320" + SHORT[4:], "q323" + SHORT[4:], "q722." + "gA" * 50,
     SHORT.replace(".", ".AA")[:-2],
     "q111.__gAgAgA", "q３２１" + SHORT[4:], SHORT[:-1] + "é", SHORT + "\n", "q111.gAgAgA==", " " + SHORT],
)  # fmt: skip
def test_invalid_code_rejected(code):
    with pytest.raises(ValueError, match=r"code|n=|d=|number"):
        from_code(code)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, 20.01, -20.01, "1", "NaN", "三", None, True, [1], 1e400, 10**400], ids=str
)
def test_invalid_number_rejected(value):
    with pytest.raises(ValueError, match="number"):
        hundredth(value)


@pytest.mark.parametrize("place", [("q", 3, 0), ("q", 0, -1), ("x", 0, 0), ("w_o", 2, 0), ("", 0, 0)])
def test_unknown_place_rejected(place):
    with pytest.raises(ValueError, match="no number at"):
        presets()["three_rows"].with_number(*place, 1.0)


def test_one_number_changes_and_no_other():
    before = presets()[DEFAULT_PRESET]
    after = before.with_number("w_k", 3, 1, -2.504)
    assert after.matrices["w_k"][3, 1] == -2.5
    assert sum(a != b for a, b in zip(before.hundredths, after.hundredths, strict=True)) == 1


def test_sizes_change_and_what_fits_stays():
    before = presets()[DEFAULT_PRESET]
    larger = before.resized(5, 6, 3)
    assert (larger.n, larger.d, larger.n_heads) == (5, 6, 3)
    assert larger.matrices["x"][:3, :4].equal(before.matrices["x"]) and larger.matrices["x"][3:].abs().sum() == 0
    assert larger.matrices["w_q"][4:, 4:].equal(torch.eye(2).double())
    assert larger.resized(3, 4, 2) == before
    assert before.resized(3, 5, 3).n_heads == 1, "three heads cannot share out five numbers"


def test_words_are_replaced_one_by_one():
    assert replace_word("", 1, "b") == "|b" and replace_word("|b", 1, " ") == ""
    assert are_words(replace_word("", 5, "<img src=x onerror=alert(1)>|x"))
    for code in ("a|b|c|d|e|f|g", "w" * 13, " a", "|" * 10_000, "a" * 10_000):
        assert not are_words(code), code[:20]
    with pytest.raises(ValueError, match="no word"):
        replace_word("", 6, "x")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_enough_words(lang):
    t = translator(lang)
    assert len(t("step_by_step.own_numbers.words").split("|")) == limits.OWN_WORDS
    assert len(t("step_by_step.puzzles.words").split("|")) >= max(p.start.n for p in game.puzzles().values())


# --- What the browser is sent ----------------------------------------------------------------------------------------


def read(text):
    return float(text.strip("()").replace("−", "-"))


@pytest.mark.parametrize("name", presets())
def test_every_result_is_explained(name):
    of = example(presets()[name], is_causal=name == DEFAULT_PRESET)
    picture = OwnPicture(translator("en"), of, ())
    groups = picture.groups(renames=False)
    visible = {result["live"]: result for group in groups for result in group["blocks"]}
    for live, result in visible.items():
        for i, row in enumerate(result["texts"]):
            for j, text in enumerate(row):
                place = f"{live}-{i}-{j}"
                assert picture.has(place) is bool(result.get("explains")), place
                if result.get("explains"):
                    sentences = picture.explain_number(place)
                    assert sentences["line"][-1][0] == text, place
                    assert {part["live"] for part in sentences["parts"]} <= visible.keys(), place
    assert not picture.has("a0-0-6") and not picture.has("a9-0-0") and not picture.has("x" * 10_000)
    assert split_place("z１-0-0") is None
    assert len(json.dumps(groups)) < 40_000


def test_sum_marks_row_and_column():
    of = example(presets()[DEFAULT_PRESET])
    sentences = OwnPicture(translator("en"), of, ()).explain_number("q1-2-1")
    line = "".join(text for text, _ in sentences["line"])
    assert line == "1·1 + 2·0 + 1·0 + 1·0 = 1"
    assert [(part["live"], part["row"], part["columns"]) for part in sentences["parts"]] == [
        ("x", 2, None),
        ("w_q", None, [3, 4]),
    ]


NODE = shutil.which("node")
NUMBERS = [0, -0.0, -0.001, 0.125, 0.375, -0.125, 2.675, 1.005, 99.99, 99.995, 100.25, 100.75, 999.95, 1000.5, 1001.5,
           -1234.5, 1e-9, 288000.4, 1 / 3, -2 / 3, 20, 0.1 + 0.2]  # fmt: skip
INPUTS = {
    "1": 1, " −2,5 ": -2.5, "+.5": 0.5, "3.": 3, "０．２５": 0.25, "1。5": 1.5, "0.129": 0.13, "-0": 0, "-20": -20,
    "": None, " ": None, "-": None, ".": None, "abc": None, "三": None, "١": None, "NaN": None, "Infinity": None,
    "1e400": None, "1e1": None, "0x10": None, "1_0": None, "1 2": None, "1.2.3": None, "20.01": None,
    "9" * 10_000: None,
}  # fmt: skip


def matrices_that_follow(of):
    """Every matrix that follows from what is given, by the core; -inf is null, as JSON has it."""
    trace = of.trace
    matrices = {
        "q": trace.q,
        "k": trace.k,
        "v": trace.v,
        "s": trace.masked,
        "a": trace.weights,
        "z": trace.head_outputs,
    }
    every = {f"{name}{head}": values[head] for name, values in matrices.items() for head in range(of.numbers.n_heads)}
    entries = (every | {"c": trace.concat, "o": trace.output}).items()
    return {
        name: [[value if math.isfinite(value) else None for value in row] for row in values.tolist()]
        for name, values in entries
    }


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test compares what a drag shows")
def test_client_numbers_equal_core(tmp_path):
    layers = [example(presets()[name], is_causal=name == DEFAULT_PRESET) for name in presets()]
    sizes = [OwnPicture(translator("en"), of, ()).follows() for of in layers]
    inputs = [{name: matrix.tolist() for name, matrix in of.inputs.items()} for of in layers]
    requests = {
        "layers": [{"sizes": size, "given": matrices} for size, matrices in zip(sizes, inputs, strict=True)],
        "printed": NUMBERS,
        "typed": list(INPUTS),
    }
    (tmp_path / "asked.json").write_text(json.dumps(requests), "utf8")
    (tmp_path / "head_numbers.mjs").write_bytes((CLIENT / "step_by_step/head_numbers.js").read_bytes())
    run = f"""
        const {{ follow, formatNumber, parseNumber }} = await import("./head_numbers.mjs");
        const {{ readFileSync }} = await import("node:fs"), asked = JSON.parse(readFileSync("asked.json", "utf8"));
        console.log(JSON.stringify({{
          layers: asked.layers.map(({{ sizes, given }}) => follow(sizes, given)),
          printed: asked.printed.map(formatNumber), typed: asked.typed.map((text) => parseNumber(text, {MOST})),
        }}));
    """
    command = [str(NODE), "--input-type=module", "--eval", run]
    result = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout)
    for of, follows in zip(layers, result["layers"], strict=True):
        expected = matrices_that_follow(of)
        assert follows.keys() == expected.keys()
        for name, rows in expected.items():
            for row, visible in zip(rows, follows[name], strict=True):
                near = [value if value is None else pytest.approx(value, abs=1e-9, rel=1e-9) for value in row]
                assert visible == near
    assert result["printed"] == [format_number(float(value)) for value in NUMBERS]
    assert dict(zip(INPUTS, result["typed"], strict=True)) == INPUTS


# --- Puzzles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", game.PUZZLES)
def test_puzzle_start_and_solution(name):
    puzzle = game.puzzles()[name]
    assert not game.verdict(name, example(puzzle.start).trace).is_solved
    assert game.verdict(name, example(puzzle.solution).trace).is_solved
    assert puzzle.allows(to_code(puzzle.start)) and puzzle.allows(to_code(puzzle.solution))


@pytest.mark.parametrize("name", game.PUZZLES)
def test_link_changes_editable_matrices_only(name):
    puzzle = game.puzzles()[name]
    for matrix in puzzle.start.shapes:
        altered = puzzle.start.with_number(matrix, 0, 0, 7.77)
        assert puzzle.allows(to_code(altered)) is (matrix in puzzle.editable)
    assert not puzzle.allows(to_code(presets()["circle"])) and not puzzle.allows("x" * 10_000)


@pytest.mark.parametrize("name", game.PUZZLES)
def test_verdict_equals_loops(name):
    """The solution, and with one number moved, or two: near the edge between solved and not."""
    puzzle, generator = game.puzzles()[name], torch.Generator().manual_seed(0)
    verdicts = set()
    for round_ in range(60):
        numbers: Numbers = puzzle.solution
        for _ in range(round_ % 3):
            matrix = puzzle.editable[int(torch.randint(len(puzzle.editable), (1,), generator=generator))]
            row, column = (int(torch.randint(side, (1,), generator=generator)) for side in numbers.shapes[matrix])
            numbers = numbers.with_number(matrix, row, column, float(torch.rand(1, generator=generator)) * 4 - 2)
        of = example(numbers)
        result = game.verdict(name, of.trace)
        missing, distance = game.measure_by_loops(name, of)
        assert (result.missing, result.found) == (missing, pytest.approx(distance, abs=1e-9))
        verdicts.add(result.is_solved)
    assert verdicts == {True, False}


def test_every_puzzle_condition_has_sentence():
    """Every verdict has its own sentence in either language."""
    steps = {
        "only_one": ["weight", ""],
        "previous": ["weight", "copy", ""],
        "cancel": ["sum", "head", ""],
    }
    half_way = game.puzzles()["previous"].solution.matrices | {"w_v": game.puzzles()["previous"].start.matrices["w_v"]}
    silent = game.puzzles()["cancel"].start.matrices | {"w_o": [[2, 1], [0, 0]]}
    between = {"previous": of_matrices(half_way, 1), "cancel": of_matrices(silent, 2)}
    for name, missing in steps.items():
        puzzle = game.puzzles()[name]
        requests = [puzzle.start, *([between[name]] if name in between else []), puzzle.solution]
        result = [game.verdict(name, example(numbers).trace) for numbers in requests]
        assert [element.missing for element in result] == missing
        for lang in LANGUAGES:
            sentences = [game.sentence(translator(lang), name, element, WORDS) for element in result]
            assert len(set(sentences)) == len(sentences) and all("{" not in element for element in sentences)


def test_near_miss_shown_with_digits():
    result = Verdict(missing="weight", found=0.98999, wanted=0.99, place=1)
    assert "0.98999 " in game.sentence(translator("en"), "only_one", result, WORDS)


# --- The two sections ------------------------------------------------------------------------------------------------


def picture_of(app):
    """View data: the matrices by name, and the rest."""
    (payload,) = (
        json.loads(element.proto.json) for element in app.get("bidi_component") if "groups" in element.proto.json
    )
    return {result["live"]: result for group in payload[0]["groups"] for result in group["blocks"]}, payload[0]


def test_link_restores_numbers_words_mask(open_app):
    numbers = presets()["circle"].with_number("x", 2, 1, -12.34)
    requests = {
        "section": "own_numbers",
        "own": to_code(numbers),
        "own_words": "a<b>||$x$",
        "own_causal": "1",
        "own_at": "z2-1-1",
    }
    app = open_app("step_by_step", **requests)
    visible, payload = picture_of(app)
    assert link_of(app) == requests and not app.exception and not app.info
    assert visible["x"]["texts"][2][1] == "−12.34" and visible["x"]["rows"][:3] == ["a<b>", "eat", "$x$"]
    assert payload["at"] == "z2-1-1" and payload["follows"]["causal"]
    assert checked(app, "own_numbers") == (4, 4)


@pytest.mark.parametrize(
    "code", ["q" * 10_000, "x342.", "NaN", to_code(presets()[DEFAULT_PRESET])[:-1]], ids=["long", "none", "NaN", "cut"]
)
def test_invalid_link_resets_with_note(open_app, code):
    hostile = {"own": code, "own_words": "|" * 10_000, "own_at": "a9-9-9", "puzzle_cancel": code, "puzzle": "<b>"}
    for section, names in (("own_numbers", "own, own_at, own_words"), ("puzzles", "puzzle, puzzle_cancel")):
        app = open_app("step_by_step", section=section, **hostile)
        assert not app.exception
        assert translator("en")("note.refused", names=names) in [element.value for element in app.info]
        assert link_of(app) == {"section": section}


def test_preset_and_size_controls(open_app):
    app = open_app("step_by_step", section="own_numbers")
    app.button(key="own_preset_three_rows").click().run()
    assert from_code(link_of(app)["own"]) == presets()["three_rows"]
    app.button_group(key="_own_d").set_value(6).run()
    app.button_group(key="_own_n_heads").set_value(3).run()
    app.button_group(key="_own_n").set_value(2).run()
    assert from_code(link_of(app)["own"]) == presets()["three_rows"].resized(2, 6, 3)
    app.button_group(key="_own_way").set_value("x").run()
    assert set(picture_of(app)[0]) >= {"x", "w_q", "w_k", "w_v", "w_o", "q2", "a2", "c", "o"}
    app.button(key="own_preset_zeros").click().run()
    assert picture_of(app)[0]["a0"]["texts"] == [["0.50", "0.50"]] * 2
    assert checked(app, "own_numbers") == (4, 4)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_solved_puzzles_stay_solved(open_app, lang):
    app, t = open_app("step_by_step", section="puzzles", lang=lang), translator(lang)
    assert not app.success
    for name in game.PUZZLES:
        app.button_group(key="puzzle").set_value(name).run()
        assert len(app.info) == 1
        app.button(key=f"solution_{name}").click().run()
        assert len(app.success) == 1 and not app.info
        assert checked(app, "puzzles") == (5, 5)
    again = open_app("step_by_step", **link_of(app))
    names = t("step_by_step.puzzles.between").join(t(f"step_by_step.puzzles.title_{name}") for name in game.PUZZLES)
    assert t("step_by_step.puzzles.progress", n=3, all=3, names=names) in [element.value for element in again.caption]
    again.button(key="again_cancel").click().run()
    assert not again.success and "puzzle_cancel" not in link_of(again)
