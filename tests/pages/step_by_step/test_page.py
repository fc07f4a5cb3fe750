"""The Step by step page: every step, source and language; numbers by hand against torch; every way to break it."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from pages.step_by_step.own_numbers.example import OwnExample
from pages.step_by_step.own_numbers.numbers import to_code as numbers_to_code
from pages.step_by_step.page import PAGE
from pages.step_by_step.three_words import default_numbers
from tests.running import bar_charts, checked, line_charts, link_of, matrices, sentences_of
from viz.frame import compute, inputs, specs
from viz.frame.examples import examples
from viz.frame.format import number
from viz.frame.mask_code import to_code
from viz.frame.sidebar import file_of
from viz.text import LANGUAGES, translator

TEXT = examples()[0].text
REAL = specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)
STEPS = range(10)
IT, ANIMAL, HEAD = 10, 2, 1
CHECKS = {
    "three_words": 4, "own_numbers": 4, "puzzles": 5,
    "steps": 8, "split": 5, "saturation": 5, "ablation": 7,
}  # fmt: skip
"""Number of live checks by section."""
TERMS = {7: 2, 8: 1, 0: 3}
"""Further checks of the steps, by step, where every term is written out."""
ALL_CHECKS = CHECKS | {"steps": CHECKS["steps"] + TERMS[0]}
"""Number of checks by section on the whole page, where every term is written out."""


@pytest.fixture
def visit(open_app):
    """Open the page; it must not have failed."""

    def run(**link):
        app = open_app("step_by_step", **link)
        assert not app.exception and not app.error, [element.value for element in (*app.exception, *app.error)]
        return app

    return run


def pictures(app):
    """Metadata of every picture."""
    return [plotted[0] for plotted in (*matrices(app).values(), *bar_charts(app).values())] + [
        *line_charts(app).values()
    ]


def values(app, name):
    """The numbers of a matrix."""
    return matrices(app)[name][1]


def formulas(app):
    return [element.value for element in app.latex]


def written_value(app, symbol):
    """Last number in the formula of a symbol."""
    line = next(line for line in formulas(app) if line.strip("$ \n").startswith(symbol))
    digits, power = re.findall(r"(-?\d+\.\d+)(?:\\times 10\^\{(-?\d+)\})?", line)[-1]
    return float(f"{digits}e{power or 0}")


@pytest.fixture
def every_tab(monkeypatch):
    """Give a tab to every section: the menu *More* cannot be used without a browser."""
    sections = tuple(replace(section, in_menu=False) for section in PAGE.sections)
    monkeypatch.setattr("pages.step_by_step.page.PAGE", replace(PAGE, sections=sections))


def open_section(app, name):
    """Open a section by its tab."""
    app.button_group(key="section").set_value(name).run()


def open_section_name(app):
    """The section that is open."""
    return app.session_state["section"]


def passes_checks(app, section="steps", n=None):
    """All live checks of a section hold, and there are as many as there should be."""
    n = CHECKS[section] if n is None else n
    return checked(app, section) == (n, n)


def with_formula(app):
    """The page again, with the formula of the steps open."""
    return app.button_group(key="_footer_steps").set_value("why").run()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("source", inputs.SOURCES)
def test_every_step_from_every_source(visit, source, lang):
    app, t = with_formula(visit(source=source, lang=lang, section="steps", step=1)), translator(lang)
    for step in (*STEPS[1:], 0):
        app.button(key=f"to_{step}").click().run()
        assert not app.exception and not app.error
        titles = [element.value for element in app.subheader]
        visible = STEPS[1:] if step == 0 else (step,)
        assert titles == [f"{n}. {t(f'step_by_step.title_{n}')}" for n in visible]
        assert [line for line in formulas(app) if r"\underset" in line or r"\in \mathbb{R}" in line]
        assert passes_checks(app)
        assert all(plotted["words"]["alt"] for plotted in pictures(app)), "a picture without a description"


def test_every_term_adds_its_checks(visit):
    """The weight and the row of the output are each checked where their terms are written."""
    for step, more in TERMS.items():
        assert passes_checks(visit(section="steps", step=step, every_term=1), n=CHECKS["steps"] + more)


def test_each_matrix_is_the_traces(visit):
    """Recomputed here from the layer's input and weights with nothing but torch."""
    call = compute.read(REAL).calls[3]
    w, rows = call.projections, slice(32 * HEAD, 32 * HEAD + 32)
    q, k, v = (
        call.x @ getattr(w, f"w_{name}")[:, rows] + getattr(w, f"b_{name}")[rows] for name in ("q", "k", "v")
    )  # fmt: skip
    scores = q @ k.T
    weights = (scores / math.sqrt(32)).softmax(-1)
    expected = {
        "picture_X": call.x, "picture_W_Q": w.w_q[:, rows], "picture_b_K": w.b_k[None, rows], "picture_Q": q,
        "picture_K": k, "picture_V": v, "map_S": scores, "map_S_scaled": scores / math.sqrt(32), "map_A": weights,
        "picture_Z": weights @ v, "picture_contribution": weights @ v @ w.w_o[rows], "picture_W_O": w.w_o[rows],
    }  # fmt: skip
    app = visit(step=0, section="steps")
    for name, matrix in expected.items():
        torch.testing.assert_close(
            values(app, name), matrix, atol=2e-5, rtol=1e-4, msg=lambda m, name=name: f"{name}: {m}"
        )


@pytest.mark.parametrize(("query", "key"), [(IT, ANIMAL), (0, 15), (7, 7)])
def test_written_numbers_equal_torch(visit, query, key):
    trace = compute.read(REAL).multi_head(3)
    row = trace.q[HEAD, query].double() @ trace.k[HEAD].double().T / math.sqrt(32)
    exps = (row - row.max()).exp()
    app = visit(step=0, query=query, key=key, section="steps")
    assert written_value(app, f"S_{{{query},{key}}}") == pytest.approx(float(row[key]) * math.sqrt(32), abs=1e-4)
    assert written_value(app, f"S'_{{{query},{key}}}") == pytest.approx(float(row[key]), abs=1e-4)
    assert written_value(app, rf"\max_m \tilde S_{{{query},m}}") == pytest.approx(float(row.max()), abs=1e-4)
    assert written_value(app, rf"\textstyle\sum_m e^{{\tilde S_{{{query},m}}") == pytest.approx(
        float(exps.sum()), abs=1e-4
    )
    assert written_value(app, f"A_{{{query},{key}}}") == pytest.approx(float(exps[key] / exps.sum()), abs=1e-4)
    assert written_value(app, f"z_{{{query}}} = \\sum") == pytest.approx(
        float(((exps / exps.sum()) @ trace.v[HEAD].double()).norm()), abs=1e-3
    )


def _sum(code):
    """The terms of a written sum: pairs of factors, their products, the result."""
    factors, terms, result = code.split("\n =")
    pairs = re.findall(r"\(?(-?\d+\.\d+)\)?×\(?(-?\d+\.\d+)\)?", factors)
    return [(float(a), float(b)) for a, b in pairs], [float(x) for x in re.findall(r"-?\d+\.\d+", terms)], float(result)


def test_dot_product_lists_every_term(visit):
    trace = compute.read(REAL).multi_head(3)
    pairs, terms, result = _sum(visit(section="steps", step=7, every_term=1).code[0].value)
    assert len(pairs) == len(terms) == 32
    torch.testing.assert_close(torch.tensor(pairs)[:, 0], trace.q[HEAD, IT], atol=6e-5, rtol=0)
    torch.testing.assert_close(torch.tensor(pairs)[:, 1], trace.k[HEAD, ANIMAL], atol=6e-5, rtol=0)
    torch.testing.assert_close(torch.tensor(terms), trace.q[HEAD, IT] * trace.k[HEAD, ANIMAL], atol=6e-5, rtol=0)
    assert result == pytest.approx(float(trace.q[HEAD, IT] @ trace.k[HEAD, ANIMAL]), abs=1e-4)


@pytest.mark.usefixtures("without_source_checks")
def test_masked_cells_are_gaps(visit):
    app = visit(step=6, mask="causal", query=2, key=5, section="steps")
    scores = values(app, "map_S_masked")
    assert torch.equal(scores == -torch.inf, ~torch.ones(16, 16).tril().bool())
    t = translator("en")
    assert t("step_by_step.line_blocked") in [element.value for element in app.caption]
    assert t("step_by_step.blocked", n=120, of=256) in sentences_of(app)
    assert any(r"\tilde S_{2,5} = -\infty" in line for line in formulas(app))


def test_shared_heads_name_the_group(visit):
    app = with_formula(visit(source="words", n_heads=4, n_kv_heads=2, head=3, step=2, section="steps"))
    assert any("g(3)" in line and r"W_K^{(1)}" in line and r"W_Q^{(3)}" in line for line in formulas(app))
    trace = compute.read(specs.Source(kind="words", text=TEXT, d_model=16, n_heads=4, n_kv_heads=2)).multi_head(0)
    torch.testing.assert_close(values(app, "picture_W_K"), trace.projections.w_k[:, 4:8])


def test_a_pair_belongs_to_its_text(visit):
    app = visit(query=5, key=7, text="one two three four five six seven eight", section="steps", step=1)
    app.text_area(key="text").set_value("The cat chased the mouse because it was hungry.").run()
    open_view = visit(text="The cat chased the mouse because it was hungry.", section="steps", step=1)
    for name in ("query", "key"):
        assert app.selectbox(key=name).value == open_view.selectbox(key=name).value
        assert app.selectbox(key=name).options == open_view.selectbox(key=name).options


def test_ablation_default_and_ineffective_fault(visit):
    """Leave the root out by default; a fault without effect is noted."""
    t = translator("en")
    assert "break_broken" not in matrices(visit())
    open_view, unscaled = visit(section="ablation"), visit(no_scale=1, section="ablation")
    correct, wrong = (values(open_view, f"break_{name}") for name in ("correct", "broken"))
    assert float((correct - wrong).abs().max()) > 0.3
    torch.testing.assert_close(wrong, values(unscaled, "break_broken"))
    assert not open_view.info and "no_scale" not in open_view.query_params, "nobody has chosen it"
    assert not open_view.toggle(key="no_scale").value
    messages = [t("step_by_step.break_none") in [line.value for line in app.caption] for app in (open_view, unscaled)]
    assert messages == [True, False]
    assert t("step_by_step.break_same") in [box.value for box in visit(no_mask=1, section="ablation").info]


@pytest.mark.usefixtures("every_tab")
def test_temperature_separate_per_page(open_app):
    app = open_app("heads", temperature=2.5)
    for heads, mistake in ((2.5, 1.0), (2.5, 0.5)):
        assert app.session_state["temperature"] == heads and app.query_params["temperature"] == str(heads)
        app.switch_page(file_of("step_by_step")).run()
        open_section(app, "ablation")
        assert app.slider(key="temperature").value == mistake
        assert ("temperature" in app.query_params) is (mistake != 1)
        app.slider(key="temperature").set_value(0.5).run()
        app.switch_page(file_of("heads")).run()


def test_output_length_includes_bias(visit):
    trace, t = compute.read(REAL).multi_head(3), translator("en")
    assert trace.projections.b_o is not None
    heads = trace.contributions[:, IT].sum(0)
    total = float((heads + trace.projections.b_o).norm())
    assert abs(total - float(heads.norm())) > 0.1
    added = f"{float(trace.contributions[HEAD, IT].norm()):.3g}"
    sentence = t("step_by_step.lengths", i=IT, head=HEAD, added=added, whole=f"{total:.3g}", H=12)
    assert sentence in visible_sentences(visit(step=9, section="steps"))
    assert all("b_O" in element for element in (sentence, t("step_by_step.more_leaves"), t("truth.sum")))


def test_key_bias_changes_no_weight(visit):
    """By torch alone, with a bias a thousand times as long; where b_K is turned by positions nothing is claimed."""
    call = compute.read(REAL).calls[3]
    q, k = call.q[HEAD].double(), call.k[HEAD].double()
    b_k = 1000 * call.projections.b_k[HEAD].double()
    weights, shifted = (torch.softmax(q @ keys.T / math.sqrt(32), 1) for keys in (k, k + b_k))
    assert b_k.norm() > 1
    torch.testing.assert_close(weights, shifted, rtol=0, atol=1e-9)
    start = translator("en")("step_by_step.idle_bias").partition("{")[0]
    claims = [
        any(sentence.startswith(start) for sentence in visible_sentences(visit(section="steps", step=2, **link)))
        for link in ({}, {"source": "words"}, {"model": "SmolLM2-135M-Instruct"})
    ]
    assert claims == [True, False, False]


def visible_sentences(app):
    return [*sentences_of(app), *(element.value for element in (*app.caption, *app.info))]


@pytest.mark.parametrize(
    ("family", "formula"),
    [
        ("qwen3", r"\operatorname{RoPE}\bigl(\operatorname{norm}"),
        ("hunyuan_v1_dense", r"\operatorname{norm}\bigl(\operatorname{RoPE}"),
        ("exaone4", r"= \operatorname{norm}\bigl("),
    ],
)
def test_query_key_norm_sentence(visit, small_model, family, formula):
    """Before the turn by position, after it, or without one, as in every second layer of this EXAONE 4."""
    app, t = with_formula(visit(model=small_model(family), step=3, layer=1, section="steps")), translator("en")
    starts = {name: t(f"step_by_step.{name}").partition("{")[0] for name in ("normed", "rotary")}
    assert [
        name for name, start in starts.items() if any(element.startswith(start) for element in visible_sentences(app))
    ] == ["normed"]
    assert any(formula in element.value for element in app.latex)
    assert not app.exception and not app.error


@pytest.mark.parametrize("link", [{"text": "hello"}, {"mask": "padding", "pad": 32}, {"mask": "padding", "pad": 3}, {}])
def test_wrong_axis_sentence(visit, link):
    app, t = visit(source="words", wrong_axis=1, **link, section="ablation"), translator("en")
    start = t("step_by_step.break_axis").partition("{")[0]
    messages = [element for element in visible_sentences(app) if element.startswith(start)]
    same = torch.allclose(values(app, "break_correct"), values(app, "break_broken"), atol=1e-6)
    assert (
        same
        == (link.get("text") == "hello" or link.get("pad") == 32)
        == (t("step_by_step.break_same") in visible_sentences(app))
    )
    sums = values(app, "break_broken").nan_to_num().sum(-1)
    ends = {"low": number(float(sums.min()), 3), "high": number(float(sums.max()), 3)}
    assert messages == ([] if same else [t("step_by_step.break_axis", **ends)])


@pytest.mark.parametrize(
    ("link", "start"), [({}, "Nothing is blocked here"), ({"mask": "window", "width": 32}, "0 of ")]
)
def test_ineffective_settings_noted(visit, link, start):
    texts = visible_sentences(visit(source="words", step=6, **link, section="steps"))
    assert any(text.startswith(start) for text in texts)


@pytest.mark.usefixtures("every_tab")
def test_step_kept_across_sections(visit):
    app = visit(section="ablation", step=5)
    app.button_group(key="section").set_value("steps").run()
    assert app.session_state["step"] == 5 and app.query_params["step"] == "5"
    open_section(app, "saturation")
    assert "step" not in app.query_params
    app.button_group(key="section").set_value("steps").run()
    assert app.session_state["step"] == 5


@pytest.mark.parametrize(
    ("family", "expected_text"),
    [("gemma2", {"rotary", "has_score_mod", "scale_other"}), ("t5", {"has_bias", "scale_other"}), ("qwen2", {"rotary"}),
     ("gpt_bigcode", set())],
)  # fmt: skip
def test_family_differences_noted(visit, small_model, family, expected_text):
    """Small random checkpoints with RoPE, a soft cap, a position bias, a scale of one, shared keys."""
    app = visit(model=small_model(family), layer=1, step=0, head=2, no_scale=1, temperature=0.5, section="all")
    app.session_state["_footer_steps"] = "why"
    app.run()
    words = sentences_of(app)
    sentences = {name: translator("en")(f"step_by_step.{name}").split("{")[0] for name in
                 ("rotary", "has_score_mod", "has_bias", "scale_other")}  # fmt: skip
    assert {
        name for name, start in sentences.items() if any(element.startswith(start) for element in words)
    } == expected_text
    assert all(passes_checks(app, section, n) for section, n in ALL_CHECKS.items())
    lines = [element.value for element in app.caption]
    assert (translator("en")("step_by_step.line_cap") in lines) == ("has_score_mod" in expected_text)
    assert (translator("en")("step_by_step.line_bias") in lines) == ("has_bias" in expected_text)
    assert any("RoPE" in line for line in formulas(app)) == ("rotary" in expected_text)


def test_fully_masked_query_explained(visit):
    closed_mask = torch.ones(16, 16, dtype=torch.bool)
    closed_mask[IT] = False
    app = visit(step=0, mask="painted", painted=to_code(closed_mask), temperature=0.5, section="all")
    t = translator("en")
    assert t("step_by_step.blind", n=1) in [element.value for element in app.warning]
    assert t("step_by_step.line_blind") in [element.value for element in app.caption]
    # A row that may look nowhere has no Jacobian and no entropy to check.
    assert all(passes_checks(app, section, n - 2 * (section == "ablation")) for section, n in ALL_CHECKS.items())


# --- Three words -------------------------------------------------------------------------------------------------


def views(app):
    """View data of the small example by step."""
    messages = [json.loads(view.proto.json)[0] for view in app.get("bidi_component") if view.proto.json]
    return {element["step"]: element for element in messages if "most" in element}


def three_words(visit, **link):
    return visit(section="three_words", **link)


def test_opening_three_words_reads_no_model(open_app, monkeypatch):
    def fail(*_):
        raise AssertionError("nothing of this is on the page yet")

    for name in ("read", "trace", "model"):
        monkeypatch.setattr(compute, name, fail)
    app = open_app("step_by_step")
    assert not app.exception and open_section_name(app) == "three_words" and link_of(app) == {}
    assert not app.text_area and not pictures(app)
    (x,) = views(app)[1]["blocks"]
    assert x["rows"] == ["cats", "eat", "fish"] and [len(row) for row in x["texts"]] == [4, 4, 4]
    assert passes_checks(app, "three_words")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_next_and_switch_keep_step(open_app, lang):
    """Next walks all nine steps; the switch opens the same step on the text."""
    app, t = open_app("step_by_step", lang=lang), translator(lang)
    for step in STEPS[1:]:
        assert [element.value for element in app.subheader] == [f"{step}. {t(f'step_by_step.title_{step}')}"]
        assert list(views(app)) == [step] and passes_checks(app, "three_words")
        app.button(key="next").click().run()
    assert sorted(views(app)) == list(STEPS[1:]), "all nine"
    app.button(key="to_4").click().run()
    assert link_of(app) == {"step": "4"} | ({"lang": "zh"} if lang == "zh" else {})
    app.toggle(key="_on_the_text").set_value(True).run()
    assert open_section_name(app) == "steps" and app.session_state["step"] == 4
    assert values(app, "map_S").shape == (16, 16) and link_of(app)["section"] == "steps"
    app.toggle(key="_on_the_text").set_value(False).run()
    assert open_section_name(app) == "three_words" and list(views(app)) == [4]


def test_link_without_section_restores_view(open_app):
    """The link restores the current view."""
    app = open_app("step_by_step")
    app.toggle(key="_on_the_text").set_value(True).run()
    for change in (lambda: app.slider(key="layer").set_value(5), lambda: app.slider(key="layer").set_value(3)):
        change().run()
        again = open_app("step_by_step", **link_of(app))
        assert open_section_name(again) == open_section_name(app) == "steps"
        assert again.session_state["layer"] == app.session_state["layer"]


def test_numbers_and_words_in_link(visit):
    app = three_words(visit, step=4)
    numbers = default_numbers().with_number("x", 1, 0, -0.5)
    link = {"numbers": numbers_to_code(numbers), "words": "a<b>|$x$|{n}", "hand_causal": 1, "cell": "0-1"}
    altered = three_words(visit, step=7, **link)
    view, trace = (
        views(altered)[7],
        OwnExample(words=("a", "b", "c"), numbers=numbers, is_causal=True).trace,
    )
    assert view["blocks"][-1]["rows"] == ["a<b>", "$x$", "{n}"] and view["cell"] == [0, 1]
    assert view["blocks"][-1]["values"] == trace.weights[0].tolist()
    assert passes_checks(altered, "three_words")
    assert altered.query_params["numbers"] == link["numbers"]
    altered.button(key="hand_reset").click().run()
    assert "numbers" not in altered.query_params and "words" not in altered.query_params
    assert "numbers" not in app.query_params


@pytest.mark.parametrize(
    "bad", [{"numbers": "1_2"}, {"numbers": "x" * 10_000}, {"words": "a" * 13}, {"cell": "3-0"}, {"cell": "1"},
            {"letter": "W"}, {"hand_causal": "x"}],
)  # fmt: skip
def test_three_words_invalid_link_noted(visit, bad):
    app, name = three_words(visit, step=6, **bad), next(iter(bad))
    assert translator("en")("note.refused", names=name) in [element.value for element in app.info]
    assert passes_checks(app, "three_words") and name not in app.query_params


def test_text_choices_kept_behind_three_words(open_app):
    selection = {"source": "words", "d_model": "8", "n_heads": "2", "text": "a b c d", "mask": "causal"}
    app = open_app("heads", **selection)
    app.switch_page(file_of("step_by_step")).run()
    assert open_section_name(app) == "three_words"
    assert link_of(app) == selection, "opened again, nothing is lost"
    app.button(key="next").click().run()
    app.toggle(key="_on_the_text").set_value(True).run()
    assert open_section_name(app) == "steps" and link_of(app) == selection | {"step": "2", "section": "steps"}
    assert app.text_area(key="text").value == "a b c d" and app.select_slider(key="d_model").value == 8
    app.toggle(key="_on_the_text").set_value(False).run()
    assert link_of(app) == selection | {"step": "2"}


def test_defaults_stay_out_of_link(open_app):
    app = open_app("heads")
    app.switch_page(file_of("step_by_step")).run()
    assert link_of(app) == {}
    app.toggle(key="_on_the_text").set_value(True).run()
    assert link_of(app) == {"section": "steps", "step": "1"}, (
        "the same step, which is not the one that this section opens on"
    )


@pytest.mark.usefixtures("without_source_checks")
def test_split_owners_and_missing_transpose(open_app):
    t = translator("en")
    right, wrong = (open_app("step_by_step", section="split", toy_heads=4, no_transpose=off) for off in (0, 1))
    assert checked(right, "split") == checked(wrong, "split") == (2, 2)
    assert t("step_by_step.split.shapes", n=16, d=384, H=12, d_k=32) in sentences_of(right)
    assert not right.error
    owners = [matrices(app)["split_after"][1].numpy() for app in (right, wrong)]
    by_hand = [[[10 * word + 2 * head + c for c in range(2)] for word in range(3)] for head in range(4)]
    assert owners[0].tolist() == np.array(by_hand).reshape(12, 2).tolist()
    assert sorted(owners[1].flatten().tolist()) == sorted(owners[0].flatten().tolist())
    assert owners[1][:3].flatten().tolist() == [0, 1, 2, 3, 4, 5], "head 0 has the first word alone"
    assert wrong.error[0].value.startswith(t("step_by_step.split.wrong", change="X", head=1).split("X")[0])


def test_split_single_word_note(open_app):
    for source in ("model", "words"):
        app = open_app("step_by_step", section="split", text="word", source=source, no_transpose=1)
        assert not app.exception and not app.error
        assert translator("en")("step_by_step.split.one") in [element.value for element in app.info]
