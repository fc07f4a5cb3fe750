"""The Step by step page: every step, source and language; the lens's numbers against torch; every way to break it."""

import base64
import json
import math
import re

import numpy as np
import pytest
import torch

from tests import checkpoints
from tests.conftest import everything
from viz.core.broken import measure_rows
from viz.models.registry import Entry
from viz.text import LANGUAGES, translator
from viz.ui import compute, controls

TEXT = controls.examples()[0].text
REAL = compute.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)
STEPS = range(10)
IT, ANIMAL, HEAD = 10, 2, 1


@pytest.fixture
def walk(open_app):
    """Open the page; it must not have failed."""

    def run(**link):
        app = open_app("step_by_step", **link)
        assert not app.exception and not app.error, [one.value for one in (*app.exception, *app.error)]
        return app

    return run


def charts(app):
    return {chart.proto.id.split("-")[-1]: chart.proto for chart in app.get("plotly_chart")}


def values(app, name):
    """The numbers of a figure's heat map."""
    z = json.loads(charts(app)[name].spec)["data"][0]["z"]
    flat = np.frombuffer(base64.b64decode(z["bdata"]), dtype=z["dtype"])
    return torch.tensor(flat.reshape([int(n) for n in z["shape"].split(",")]))


def formulas(app):
    return [one.value for one in app.latex]


def written(app, symbol):
    """What the lens says a symbol is: the last number of its line."""
    line = next(line for line in formulas(app) if line.strip("$ \n").startswith(symbol))
    digits, power = re.findall(r"(-?\d+\.\d+)(?:\\times 10\^\{(-?\d+)\})?", line)[-1]
    return float(f"{digits}e{power or 0}")


def passed(app, lang="en"):
    """All checks of the truth badge hold."""
    return any(one.label.startswith(translator(lang)("truth.passed", n=7)) for one in app.expander)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("source", controls.SOURCES)
def test_every_step_from_every_source(walk, source, lang):
    app, t = walk(source=source, lang=lang), translator(lang)
    for step in (*STEPS[1:], 0):
        app.button(key=f"to_{step}").click().run()
        assert not app.exception and not app.error
        titles = [one.value for one in app.subheader]
        for n in STEPS[1:] if step == 0 else (step,):
            assert f"{n}. {t(f'step_by_step.title_{n}')}" in titles
        assert formulas(app)
        assert passed(app, lang)
        assert all(chart.alt for chart in charts(app).values()), "a figure without a description"


def test_back_and_next_walk_through_the_steps_and_stop_at_the_ends(walk):
    app = walk()
    seen = [app.session_state["step"]]
    assert app.button(key="back").disabled
    while not app.button(key="next").disabled:
        app.button(key="next").click().run()
        seen.append(app.session_state["step"])
    assert seen == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    app.button(key="back").click().run()
    assert app.session_state["step"] == 9


def test_arrow_keys_are_back_and_next(walk):
    app = walk()
    assert {name: app.button(key=name).proto.shortcut for name in ("back", "next")} == {"back": "left", "next": "right"}


def test_the_first_pair_is_it_and_animal(walk):
    app = walk()
    state = {name: app.session_state[name] for name in ("step", "head", "query", "key")}
    assert state == {"step": 1, "head": HEAD, "query": IT, "key": ANIMAL}
    assert not {"step", "head", "query", "key"} & set(app.query_params)


def test_each_matrix_is_the_traces(walk):
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
    app = walk(step=0)
    for name, matrix in expected.items():
        torch.testing.assert_close(
            values(app, name), matrix, atol=2e-5, rtol=1e-4, msg=lambda m, name=name: f"{name}: {m}"
        )


@pytest.mark.parametrize(("query", "key"), [(IT, ANIMAL), (0, 15), (7, 7)])
def test_the_lens_says_what_torch_says(walk, query, key):
    trace = compute.read(REAL).multi_head(3)
    row = trace.q[HEAD, query].double() @ trace.k[HEAD].double().T / math.sqrt(32)
    exps = (row - row.max()).exp()
    app = walk(step=0, query=query, key=key)
    assert written(app, f"S_{{{query},{key}}}") == pytest.approx(float(row[key]) * math.sqrt(32), abs=1e-4)
    assert written(app, f"S'_{{{query},{key}}}") == pytest.approx(float(row[key]), abs=1e-4)
    assert written(app, rf"\max_m \tilde S_{{{query},m}}") == pytest.approx(float(row.max()), abs=1e-4)
    assert written(app, rf"\textstyle\sum_m e^{{\tilde S_{{{query},m}}") == pytest.approx(float(exps.sum()), abs=1e-4)
    assert written(app, f"A_{{{query},{key}}}") == pytest.approx(float(exps[key] / exps.sum()), abs=1e-4)
    assert written(app, f"z_{{{query}}} = \\sum") == pytest.approx(
        float(((exps / exps.sum()) @ trace.v[HEAD].double()).norm()), abs=1e-3
    )


def _sum(code):
    """The terms of a written sum: pairs of factors, their products, the result."""
    factors, terms, result = code.split("\n =")
    pairs = re.findall(r"\(?(-?\d+\.\d+)\)?×\(?(-?\d+\.\d+)\)?", factors)
    return [(float(a), float(b)) for a, b in pairs], [float(x) for x in re.findall(r"-?\d+\.\d+", terms)], float(result)


def test_every_term_of_the_dot_product_is_written(walk):
    trace = compute.read(REAL).multi_head(3)
    pairs, terms, result = _sum(walk(step=4).code[0].value)
    assert len(pairs) == len(terms) == 32
    torch.testing.assert_close(torch.tensor(pairs)[:, 0], trace.q[HEAD, IT], atol=6e-5, rtol=0)
    torch.testing.assert_close(torch.tensor(pairs)[:, 1], trace.k[HEAD, ANIMAL], atol=6e-5, rtol=0)
    torch.testing.assert_close(torch.tensor(terms), trace.q[HEAD, IT] * trace.k[HEAD, ANIMAL], atol=6e-5, rtol=0)
    assert result == pytest.approx(float(trace.q[HEAD, IT] @ trace.k[HEAD, ANIMAL]), abs=1e-4)


@pytest.mark.parametrize("place", [0, 31])
def test_every_term_of_the_weighted_sum_is_written(walk, place):
    trace = compute.read(REAL).multi_head(3)
    app = walk(step=8, place=place)
    _, terms, result = _sum(app.code[0].value)
    expected = trace.weights[HEAD, IT] * trace.v[HEAD, :, place]
    torch.testing.assert_close(torch.tensor(terms), expected, atol=6e-5, rtol=0)
    assert result == pytest.approx(float(expected.sum()), abs=1e-4)
    parts = values(app, "picture_parts")
    torch.testing.assert_close(parts[:-1, place], expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(parts[:-1].sum(0), parts[-1], atol=1e-5, rtol=0)


def test_softmax_rows_are_drawn_before_and_after(walk):
    trace = compute.read(REAL).multi_head(3)
    app = walk(step=7)
    for name, row in {"row_before": trace.masked[HEAD, IT], "row_after": trace.weights[HEAD, IT]}.items():
        y = json.loads(charts(app)[name].spec)["data"][0]["y"]
        drawn = torch.tensor(np.frombuffer(base64.b64decode(y["bdata"]), dtype=y["dtype"]))
        torch.testing.assert_close(drawn, row)


def test_a_mask_leaves_gaps_and_the_lens_says_blocked(walk):
    app = walk(step=6, mask="causal", query=2, key=5)
    drawn = values(app, "map_S_masked")
    assert torch.equal(drawn.isnan(), ~torch.ones(16, 16).tril().bool())
    t = translator("en")
    assert t("step_by_step.line_blocked") in [one.value for one in app.caption]
    assert t("step_by_step.blocked", n=120, of=256) in [one.value for one in app.markdown]
    assert any(r"\tilde S_{2,5} = -\infty" in line for line in formulas(app))


def test_shared_heads_name_the_group(walk):
    app = walk(source="words", n_heads=4, n_kv_heads=2, head=3, step=2)
    assert any("g(3)" in line and r"W_K^{(1)}" in line and r"W_Q^{(3)}" in line for line in formulas(app))
    trace = compute.read(compute.Source(kind="words", text=TEXT, d_model=16, n_heads=4, n_kv_heads=2)).multi_head(0)
    torch.testing.assert_close(values(app, "picture_W_K"), trace.projections.w_k[:, 4:8])


def test_a_head_that_does_not_exist_goes_to_the_last(walk):
    app = walk(source="words", n_heads=2)
    app.selectbox(key="head").set_value(1).run()
    app.select_slider(key="n_heads").set_value(1).run()
    assert app.session_state["head"] == 0 and not app.exception


def test_a_pair_belongs_to_its_text(walk):
    app = walk(query=5, key=7, text="one two three four five six seven eight")
    app.text_area(key="text").set_value("The cat chased the mouse because it was hungry.").run()
    opened = walk(text="The cat chased the mouse because it was hungry.")
    for name in ("query", "key"):
        assert app.selectbox(key=name).value == opened.selectbox(key=name).value
        assert app.selectbox(key=name).options == opened.selectbox(key=name).options


def test_a_pair_beyond_a_shorter_text_falls_back(walk):
    app = walk(step=7, query=14, key=15)
    app.text_area(key="text").set_value("one two").run()
    assert not app.exception and app.session_state["query"] < 4 and app.session_state["key"] < 4


@pytest.mark.parametrize(
    ("faults", "wrong"),
    [
        ({"no_scale": 1}, lambda scores, v: scores.softmax(-1)),
        ({"temperature": 0.5}, lambda scores, v: (scores / math.sqrt(32) / 0.5).softmax(-1)),
        ({"wrong_axis": 1}, lambda scores, v: (scores / math.sqrt(32)).softmax(-2)),
        ({"no_mask": 1, "mask": "causal"}, lambda scores, v: (scores / math.sqrt(32)).softmax(-1)),
        ({"no_scale": 1, "temperature": 4.0}, lambda scores, v: (scores / 4).softmax(-1)),
    ],
)
def test_what_is_broken_is_beside_what_is_correct(walk, faults, wrong):
    trace = compute.trace(REAL, 3, compute.Mask(kind=faults.get("mask", "own")))
    app = walk(step=1, **faults)
    torch.testing.assert_close(values(app, "break_correct"), trace.weights[HEAD])
    expected = wrong(trace.scores[HEAD], trace.v[HEAD])
    torch.testing.assert_close(values(app, "break_broken"), expected, atol=1e-5, rtol=1e-4)
    scales = {tuple(json.loads(charts(app)[f"break_{name}"].spec)["data"][0][end] for end in ("zmin", "zmax"))
              for name in ("correct", "broken")}  # fmt: skip
    assert scales == {(0, 1)}
    table = app.table[0].value.set_index(translator("en")("step_by_step.measure"))
    row = table[translator("en")("step_by_step.row_broken", i=IT)].tolist()
    assert float(row[1]) == pytest.approx(float(expected[IT].max()), abs=1e-4)
    assert float(row[3]) == pytest.approx(float(expected[IT].sum()), abs=1e-4)
    if abs(float(expected[IT].sum()) - 1) < 1e-3:
        p = expected[IT]
        assert float(row[0]) == pytest.approx(float(-(p * p.log()).sum()), abs=1e-3)
        assert float(row[2]) == pytest.approx(float((p.diag() - p.outer(p)).norm()), abs=1e-4)


def test_nothing_broken_draws_nothing_and_a_fault_without_effect_says_so(walk):
    assert "break_broken" not in charts(walk())
    app = walk(no_mask=1)
    assert translator("en")("step_by_step.break_same") in [one.value for one in app.info]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_whole_output_has_the_bias_and_is_said_to(walk, lang):
    trace, t = compute.read(REAL).multi_head(3), translator(lang)
    assert trace.projections.b_o is not None
    heads = trace.contributions[:, IT].sum(0)
    whole = float((heads + trace.projections.b_o).norm())
    assert abs(whole - float(heads.norm())) > 0.1
    own = f"{float(trace.contributions[HEAD, IT].norm()):.4f}"
    sentence = t("step_by_step.lengths", i=IT, head=HEAD, own=own, whole=f"{whole:.4f}", H=12)
    assert sentence in said(walk(step=9, lang=lang))
    assert all("b_O" in one for one in (sentence, t("step_by_step.says_leaves"), t("truth.sum")))


def said(app):
    return [one.value for one in (*app.markdown, *app.caption, *app.info)]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("link", [{"text": "hello"}, {"mask": "padding", "pad": 32}, {"mask": "padding", "pad": 3}, {}])
def test_the_wrong_axis_is_told_of_where_it_changes_a_weight(walk, link, lang):
    app, t = walk(source="words", wrong_axis=1, lang=lang, **link), translator(lang)
    start = t("step_by_step.break_axis").partition("{")[0]
    told = [one for one in said(app) if one.startswith(start)]
    same = torch.equal(values(app, "break_correct"), values(app, "break_broken"))
    assert same == (link.get("text") == "hello" or link.get("pad") == 32) == (t("step_by_step.break_same") in said(app))
    sums = values(app, "break_broken").nan_to_num().sum(-1)
    ends = {"low": f"{float(sums.min()):.2f}", "high": f"{float(sums.max()):.2f}"}
    assert told == ([] if same else [t("step_by_step.break_axis", **ends)])


def test_the_median_of_an_even_number_of_rows_is_between_the_two_in_the_middle(walk):
    app, t = walk(temperature=2.0), translator("en")
    table = app.table[0].value.set_index(t("step_by_step.measure"))
    largest = compute.read(REAL).layer(3).weights[HEAD].amax(-1).double()
    assert len(largest) == 16
    middle = largest.sort().values[7:9].mean()
    assert float(table[t("step_by_step.median_correct")].iloc[1]) == pytest.approx(float(middle), abs=6e-5)


def test_an_even_row_has_a_small_jacobian_and_a_small_largest_weight():
    n = 198
    even = measure_rows(torch.full((1, n), 1 / n))
    assert float(even.jacobian) == pytest.approx(1 / math.sqrt(n), rel=0.01)
    assert float(even.largest) < 0.01


@pytest.mark.parametrize(
    ("link", "key"),
    [({"step": 6}, "none_blocked"), ({"step": 6, "mask": "window", "width": 32}, "none_blocked_mask"),
     ({"step": 5, "text": "hello"}, "scale_single")],
)  # fmt: skip
def test_what_has_no_effect_is_said_as_it_is(walk, link, key):
    assert translator("en")(f"step_by_step.{key}") in said(walk(source="words", **link))


def test_the_switches_are_in_the_link(open_app, walk):
    app = walk(step=7, head=5, query=3, key=4)
    app.toggle(key="no_scale").set_value(True).run()
    app.slider(key="temperature").set_value(2.0).run()
    link = {name: app.query_params[name] for name in app.query_params}
    assert link == {"step": "7", "head": "5", "query": "3", "key": "4", "no_scale": "1", "temperature": "2.0"}
    again = walk(**link)
    torch.testing.assert_close(values(again, "break_broken"), values(app, "break_broken"))


@pytest.mark.parametrize("bad", [{"step": 10}, {"step": -1}, {"no_scale": "x"}, {"step": 8, "place": 32}])
def test_a_hostile_link_falls_back_and_says_so_at_once(walk, bad):
    """Names only this page knows: the harness comes by the Heads page, which would be told of the others."""
    note = translator("en")("note.refused", names=list(bad)[-1])
    assert note in [one.value for one in walk(**bad).info]


@pytest.mark.parametrize("bad", [{"head": 99}, {"query": 99}, {"key": "x"}, {"temperature": "nan"}, {"temperature": 0}])
def test_what_a_link_may_not_ask_for_is_as_usual(walk, bad):
    app, usual = walk(**bad), {"head": HEAD, "query": IT, "key": ANIMAL, "temperature": 1.0}
    assert {name: app.session_state[name] for name in bad} == {name: usual[name] for name in bad}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    names = ("gemma2", "t5", "qwen2", "gpt_bigcode")
    return {name: checkpoints.save(name, tmp_path_factory.mktemp("models") / name) for name in names}


@pytest.mark.parametrize(
    ("family", "said"),
    [("gemma2", {"rotary", "has_score_mod"}), ("t5", {"has_bias", "scale_one"}), ("qwen2", {"rotary"}),
     ("gpt_bigcode", set())],
)  # fmt: skip
def test_what_a_family_does_differently_is_said(walk, monkeypatch, folders, family, said):
    """Small random checkpoints with RoPE, a soft cap, a position bias, a scale of one, shared keys."""
    entries = (Entry(id=f"tiny-{family}", path=folders[family]),)
    monkeypatch.setattr(compute, "local_entries", lambda: entries)
    app = walk(model=f"tiny-{family}", layer=1, step=0, head=2, no_scale=1, temperature=0.5)
    words = [one.value for one in app.markdown]
    sentences = {name: translator("en")(f"step_by_step.{name}").split("{")[0] for name in
                 ("rotary", "has_score_mod", "has_bias", "scale_one")}  # fmt: skip
    assert {name for name, start in sentences.items() if any(one.startswith(start) for one in words)} == said
    assert passed(app), [one.label for one in app.expander]
    lens = [one.value for one in app.caption]
    assert (translator("en")("step_by_step.line_cap") in lens) == ("has_score_mod" in said)
    assert (translator("en")("step_by_step.line_bias") in lens) == ("has_bias" in said)
    assert any("RoPE" in line for line in formulas(app)) == ("rotary" in said)


HOSTILE = "![x](http://example.com/a.png) <b>bold</b> $x^2$ #000001 **b** :red[x] {n}"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("step", [0, 7])
def test_hostile_text_is_shown_only_where_it_stays_text(walk, step, lang):
    app = walk(source="words", text=HOSTILE, step=step, lang=lang, query=2, key=0, no_scale=1)
    for element in everything(app):
        if type(element).__name__ in ("Markdown", "Caption", "Latex", "Subheader", "Title"):
            assert "example" not in element.value and "bold" not in element.value
    for chart in charts(app).values():
        spec = json.loads(chart.spec)
        drawn = json.dumps([spec["data"], {name: part for name, part in spec["layout"].items() if name != "template"}])
        assert "<b>" not in drawn and "<img" not in drawn and "#000001" not in drawn


@pytest.mark.parametrize("step", [0, 7])
def test_one_word_and_two_hundred(walk, step):
    walk(source="words", text="word", step=step, no_scale=1, no_mask=1, wrong_axis=1)
    long = walk(text=" ".join(["animal", "it"] * 100), step=step)
    assert passed(long)
    many = translator("en")("step_by_step.not_clicked", n=202)
    assert many in [one.value for one in long.caption]


def test_a_query_that_may_look_nowhere_is_explained(walk, monkeypatch):
    closed = torch.ones(16, 16, dtype=torch.bool)
    closed[IT] = False
    monkeypatch.setattr(compute.Mask, "allowed", lambda self, n_queries, n_keys: closed if n_queries == 16 else None)
    compute.trace.clear()
    try:
        app = walk(step=0, mask="prefix", temperature=0.5)
        t = translator("en")
        assert t("step_by_step.blind", n=1) in [one.value for one in app.warning]
        assert t("step_by_step.line_blind") in [one.value for one in app.caption]
        assert passed(app)
    finally:
        compute.trace.clear()
