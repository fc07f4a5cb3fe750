"""Why many heads: what the sections say is what the core computes, on every kind of layer."""

import json

import pytest
import torch

from pages.many_heads import compute as many_compute
from pages.many_heads import differ, inputs
from pages.many_heads.page import PAGE
from tests.running import checked, sentences_of
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.frame.format import part, share
from viz.frame.mask_code import to_code
from viz.text import LANGUAGES, translator

T = translator("en")
REAL = specs.Source(kind="model", text=examples()[0].text, model=compute.DEFAULT_MODEL)
SEEDED = {"source": "words", "text": "one two three four five two", "n_heads": 4, "d_model": 24}


def said(app):
    return sentences_of(app)


def figure(app, key):
    (chart,) = [chart for chart in app.get("plotly_chart") if chart.proto.id.endswith(f"-{key}")]
    return json.loads(chart.proto.spec)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "link",
    [
        {},
        SEEDED,
        SEEDED | {"n_kv_heads": 2, "mask": "causal"},
        SEEDED | {"n_heads": 1},
        {"model": "twin-g1"},
        {"text": "a"},
    ],
)
def test_every_check_holds(open_app, link, lang):
    app = open_app("many_heads", section="all", lang=lang, **link)
    assert not app.exception and not app.error
    for section in PAGE.sections:
        passed, n = checked(app, section.name)
        assert passed == n


@pytest.mark.parametrize(("heads", "key"), [(1, "found_one"), (2, "found_several"), (3, "found_several")])
def test_one_head_loses_half_of_two_neighbours_and_more_heads_nothing(open_app, heads, key):
    app = open_app("many_heads", toy_heads=heads)
    assert not app.exception
    assert checked(app, "two_places") == (2, 2)
    start = T(f"many_heads.two_places.{key}", lost="X", rest="X", n=heads).split("X")[0]
    (finding,) = [text for text in said(app) if text.startswith(start)]
    assert "49." in finding or "50." in finding, "one head's loss, whichever is shown"
    assert app.slider(key="toy_before").disabled == (heads > 1)


def test_the_heads_that_differ_most_are_named(open_app):
    weights = compute.trace(REAL, 3, specs.Mask()).weights
    apart = {
        (a, b): float((weights[a] - weights[b]).abs().sum(-1).mean()) / 2 for a in range(12) for b in range(a + 1, 12)
    }
    far, near = max(apart, key=apart.get), min(apart, key=apart.get)
    app = open_app("many_heads", section="differ")
    finding = T(
        "many_heads.differ.found",
        a=far[0],
        b=far[1],
        far=part(apart[far]),
        c=near[0],
        d=near[1],
        near=part(apart[near]),
    )
    assert finding in said(app)


def test_where_nothing_may_be_looked_at_nothing_would_change(open_app):
    app = open_app(
        "many_heads", section="differ", mask="painted", painted=to_code(torch.zeros(32, 32).bool()), **SEEDED
    )
    assert not app.exception
    assert T("many_heads.differ.averaged", n=4, change="0.0%") in said(app)


def test_heads_that_look_alike_lose_nothing_by_one_map():
    """All weights equal: their mean is each of them."""
    source = specs.Source(kind="words", text="one two three", d_model=12, n_heads=3, n_kv_heads=3)
    trace = compute.trace(source, 0, specs.Mask())
    alike = trace.weights.mean(0).expand_as(trace.weights)
    values = trace.v
    by_hand = torch.cat([alike[h] @ values[h] for h in range(3)], dim=-1) @ trace.projections.w_o
    torch.testing.assert_close(differ.averaged(trace), by_hand)


def test_a_number_that_is_switched_off_changes_every_head(open_app):
    trace = compute.trace(REAL, 3, specs.Mask())
    for place in (0, 101, 383):
        by_head = inputs.changes(trace.x, trace.projections, place)
        assert (by_head > 0).all(), place
    app = open_app("many_heads", section="inputs", input_off=101)
    by_head = inputs.changes(trace.x, trace.projections, 101)
    values = {"least": share(float(by_head.min())), "most": share(float(by_head.max()))}
    assert T("many_heads.inputs.found", place=101, changed=12, n=12, **values) in said(app)
    assert T("many_heads.inputs.cut", owner=3, d=384, H=12, d_k=32) in said(app), "101 of 384 lies in the fourth part"


def test_a_heads_rank_is_its_width(open_app):
    for layer, head in ((0, 0), (3, 1), (5, 11)):
        strengths = many_compute.strengths(REAL, layer, head)
        assert len(strengths) == 384
        assert int((strengths > 1e-5 * strengths[0]).sum()) == 32
    app = open_app("many_heads", section="rank", head=5)
    assert T("many_heads.rank.found", head=5, rank=32, d_k=32, d=384) in said(app)
    drawn = figure(app, "rank")["data"][0]
    assert len(drawn["x"]) == 64, "as many again, of which nothing is left"
