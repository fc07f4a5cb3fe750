"""Sentences of the Step by step page: true for every text, mask and pair, and for every kind of head."""

import re

import pytest
from torch.nn.functional import linear, scaled_dot_product_attention

from tests.running import bar_charts, matrices, sentences_of
from viz.frame import compute, specs
from viz.frame.format import share
from viz.text import LANGUAGES, join_names, translator

SEEDED = {"source": "words", "text": "a b a b"}
SAME = SEEDED | {"text": "cat cat cat cat"}
NOWHERE = {"mask": "padding", "pad": 9}
pytestmark = pytest.mark.usefixtures("without_source_checks")


@pytest.fixture(params=LANGUAGES)
def t(request):
    return translator(request.param)


@pytest.fixture
def visit(open_app, request):
    """Open a section of the page in the test's language."""

    def open_section(section="steps", **link):
        app = open_app("step_by_step", section=section, lang=request.node.callspec.params["t"], **link)
        assert not app.exception
        return app

    return open_section


def texts_of(app):
    return sentences_of(app) + [
        element.value for kind in ("caption", "text", "info", "error") for element in app.get(kind)
    ]


def alt_of(app, name):
    return (bar_charts(app) if name.startswith("row") else matrices(app))[name][0]["words"]["alt"]


def is_filled(texts, template):
    """Return True if one of the texts is this sentence with any values."""
    pattern = ".+?".join(map(re.escape, re.split(r"\{[^}]*\}", template)))
    return any(re.fullmatch(pattern, text) for text in texts)


@pytest.mark.parametrize("key", [0, 3])
def test_blocked_pair_does_not_look(visit, t, key):
    texts = texts_of(visit(step=6, mask="causal", query=0, key=key, **SEEDED, section="steps"))
    sentence = t("step_by_step.pair_blocked", query="a", i=0, key="b", j=3)
    assert (sentence in texts) == (key == 3)
    assert is_filled(texts, t("step_by_step.pair")) == (key == 0)


@pytest.mark.parametrize(("link", "n"), [(SEEDED | {"text": "one two"}, "1"), (SAME, "4"), (SEEDED | NOWHERE, None)])
def test_no_bar_is_largest_among_equals(visit, t, link, n):
    """The number of the largest bars is in the text, unless the query may look nowhere."""
    app = visit(step=7, every_term=1, **link, section="steps")
    for when in ("before", "after"):
        alt = alt_of(app, f"row_{when}")
        assert is_filled([alt], t(f"step_by_step.row_alt{'' if n else '_blind'}")), when
        assert not n or re.search(rf"[ 有] ?{n} (bar|条)", alt)


def test_repeated_word_has_its_place(visit, t):
    """Its place tells it from the equal one."""
    app = visit(step=4, text="a b c a", source="words", section="steps")
    assert is_filled([alt_of(app, "map_S")], t("step_by_step.alt"))
    values, alt = matrices(app)["map_S"][1], alt_of(app, "map_S")
    row, column = divmod(int(values.argmax()), 4)
    names = ["0 · a", "b", "c", "3 · a"]
    assert f"{names[row]}" in alt and f"{names[column]}" in alt


def test_blocked_map_has_no_range(visit, t):
    alt = alt_of(visit(step=6, **SEEDED, **NOWHERE, section="steps"), "map_S_masked")
    assert is_filled([alt], t("step_by_step.alt_blocked")) and "∞" not in alt


@pytest.mark.parametrize(("heads", "words"), [(4, "(1 term)"), (1, "(4 terms)")])
def test_terms_are_counted(open_app, heads, words):
    link = SEEDED | {"d_model": 4, "n_heads": heads}
    app = open_app("step_by_step", section="steps", step=4, every_term=1, **link)
    assert any(words in text for text in sentences_of(app))


def test_faults_are_listed_in_language(visit, t):
    names = join_names(t, [t("step_by_step.no_scale"), t("step_by_step.wrong_axis"), "t = 2"])
    texts = texts_of(visit("ablation", no_scale=1, wrong_axis=1, temperature=2.0, **SEEDED))
    assert t("step_by_step.shows_broken", what=names) in texts


def test_temperature_switches_nothing_off(visit, t):
    """Even weights stay even at any temperature, though nothing is switched off."""
    texts = texts_of(visit("ablation", temperature=3.0, **SAME))
    assert t("step_by_step.break_same") in texts


def test_blocked_row_is_not_divided(visit, t):
    texts = texts_of(visit("saturation", **SEEDED, **NOWHERE))
    assert t("step_by_step.row_blind", i=0) in texts
    texts = texts_of(visit("saturation", query=0, mask="causal", **SEEDED))
    assert t("step_by_step.row_root", i=0, raw="1", scaled="1", d_k=4) in texts


@pytest.mark.parametrize("link", [{}, {"mask": "causal"}, NOWHERE, {"model": "animals-en-zh", "text": "cat dog"}])
def test_split_changes_the_chosen_layer(visit, t, link):
    """The percentage is that of the layer with its mask, bias and scale."""
    texts = texts_of(visit("split", **({} if "model" in link else SEEDED) | link))
    assert not any("nan" in text for text in texts)
    assert t("step_by_step.split.apart") not in texts
    assert any("0.0%" in text for text in texts) == (link is NOWHERE)


def test_split_percentage_by_torch(visit, t):
    """A model's bias and scale are in the percentage, and each word's vector is read head by head in one row."""
    text, model, layer = "cat dog cat", "animals-en-zh", 1
    capture = compute.read(specs.Source(kind="model", text=text, model=model))
    call, right = capture.calls[layer], capture.multi_head(layer).output
    w, n, H = call.projections, len(right), len(call.q)
    q, k, v = (linear(call.x, x.T, b).reshape(H, n, -1) for x, b in ((w.w_q, w.b_q), (w.w_k, w.b_k), (w.w_v, w.b_v)))
    heads = scaled_dot_product_attention(q, k, v, call.options["bias"], scale=1.0)
    wrong = linear(heads.reshape(n, -1), w.w_o.T, w.b_o)
    change = share(float(((wrong - right).norm(dim=-1) / right.norm(dim=-1)).mean()))
    assert any(
        f"**{change}**" in sentence for sentence in texts_of(visit("split", text=text, model=model, layer=layer))
    )


def test_split_says_what_it_leaves_out(visit, t):
    assert t("step_by_step.split.apart") in texts_of(visit("split", model="twin-g2", text="red blue red blue"))
