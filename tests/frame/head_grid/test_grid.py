"""What the head grid is given, and what becomes of what a visitor chooses in it."""

import json

import pytest
import torch
from torch.testing import assert_close

from tests.components.test_head_grid import unpack
from viz.components.head_grid import Packed
from viz.core.analysis import map_statistics
from viz.core.analysis.head_statistics import head_statistics
from viz.frame import choice, compute, specs
from viz.frame.compute import head_grid
from viz.frame.examples import examples
from viz.frame.head_grid.grid import _choose
from viz.params.session import Parameters
from viz.text import LANGUAGES, sentences

TEXT = examples()[0].text
PIECES = "The unbelievable hippopotamuses misunderstood electroencephalography."
REAL = specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)
WEIGHTS, OWN = specs.View(), specs.Mask()


def sent(app):
    """The three messages of the grid: wall, head (taken apart), words and choices."""
    mounted = [one.proto for one in app.get("bidi_component") if one.proto.component_name == "headlight.head_grid"]
    wall, head = (unpack(Packed(data=proto.bytes, id="")) for proto in mounted[:2])
    return wall, head, json.loads(mounted[2].json)[0]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("source", choice.SOURCES)
def test_every_source_in_both_languages(open_app, source, lang):
    app = open_app(source=source, lang=lang)
    wall, head, data = sent(app)
    choice = data["choice"]
    assert (data["wall"], data["head"]) == (wall["id"], head["id"])
    assert (choice["layer"], choice["head"]) == ((3, 1) if source == "model" else (0, 1))
    assert data["axes"]["queries"]["labels"][choice["query"]] == "it"
    assert data["words"]["says_weight"] == sentences(lang)["head_grid.says_weight"]
    assert wall["n_queries"] == len(data["axes"]["queries"]["labels"]) == wall["n_keys"]
    shown = wall["values"].view(-1, wall["rows"], wall["columns"])[choice["layer"] * wall["n_heads"] + choice["head"]]
    weights = torch.softmax(head["scores"].view(head["rows"], head["columns"]), -1)
    assert_close(shown.float() / 65535, weights, atol=1e-5, rtol=0)
    sums = (wall["values"].float() / 65535).view(-1, wall["columns"]).sum(-1)
    assert_close(sums, torch.ones_like(sums), atol=wall["columns"] * 7.7e-6, rtol=0)


def test_the_wall_is_every_layer_of_the_model():
    wall = unpack(head_grid.wall(REAL, OWN, WEIGHTS))
    seen = compute.read(REAL)
    want = torch.cat([seen.layer(i).weights for i in range(6)])
    assert_close(wall["values"].view(want.shape).float() / 65535, want, atol=7.7e-6, rtol=0)


def test_the_numbers_to_sort_by_are_those_of_the_portrait():
    wall, seen = unpack(head_grid.wall(REAL, OWN, WEIGHTS)), compute.read(REAL)
    table = dict(zip(wall["order"], wall["measures"].view(-1, 72), strict=True))
    ids, special = torch.tensor(seen.tokens.ids), torch.tensor(seen.tokens.special)
    for layer in range(6):
        weights = seen.layer(layer).weights
        for name, values in vars(head_statistics(weights, ids, special)).items():
            assert_close(table[name][layer * 12 : layer * 12 + 12], values, equal_nan=True)
        assert_close(table["entropy"][layer * 12 : layer * 12 + 12], map_statistics.entropy(weights).mean(-1))


def test_an_added_mask_and_heads_that_are_off_reach_the_wall():
    causal, off = specs.Mask(kind="causal"), frozenset({(0, 2)})
    wall = unpack(head_grid.wall(REAL, causal, WEIGHTS))
    assert (wall["values"].view(72, 16, 16).int().triu(1) == 0).all()
    without = unpack(head_grid.wall(REAL, OWN, WEIGHTS, off))["values"].view(6, -1).int()
    usual = unpack(head_grid.wall(REAL, OWN, WEIGHTS))["values"].view(6, -1).int()
    assert torch.equal(without[0], usual[0])  # the head's own weights do not change, those of later layers do
    assert not torch.equal(without[1], usual[1])


def test_scores_are_those_before_the_softmax_and_masked_ones_are_marked():
    view = specs.View(what="scores")
    wall = unpack(head_grid.wall(REAL, specs.Mask(kind="causal"), view))
    want = compute.read(REAL).layer(3, allowed=torch.ones(16, 16).tril().bool()).masked[1]
    head = unpack(head_grid.head_scores(REAL, 3, 1, specs.Mask(kind="causal"), view))
    assert_close(head["scores"].view(16, 16), want)
    codes = wall["values"].view(72, 16, 16)[37].int()
    assert torch.equal(codes == 65535, want == -torch.inf)
    low, high = wall["ranges"].view(72, 2)[37]
    assert_close((low + (high - low) * codes / 65534).tril(), want.tril(), atol=float(high - low) / 65534, rtol=0)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("hide", [False, True])
def test_the_axis_says_where_each_token_went(merge, hide):
    """Grouping by the axis, as the browser does it, is what viz.core.analysis.map_statistics does."""
    source, view = specs.Source(kind="model", text=PIECES, model=REAL.model), specs.View(merge=merge, hide=hide)
    seen = compute.read(source)
    place, shown = head_grid.axis(seen.tokens, view), head_grid.shown(source, 2, OWN, view)
    assert tuple(place.labels) == shown.labels
    assert place.sent()["count"] == len(shown.labels)
    of = torch.tensor(place.of)
    kept = of >= 0
    weights = map_statistics.merge_words(seen.layer(2).weights[:, kept][..., kept], of[kept], of[kept])
    weights = weights / weights.sum(-1, keepdim=True) if hide else weights
    assert_close(weights, shown.values)
    if merge and hide:
        assert shown.labels == ("The", "unbelievable", "hippopotamuses", "misunderstood", "electroencephalography", ".")


def test_a_lock_counts_tokens_in_the_link_and_rows_for_the_page(open_app):
    app = open_app(text=PIECES, hide=1, query=3, key=0)
    _, _, data = sent(app)
    assert data["choice"]["query"] == 3
    assert data["axes"]["queries"]["of"][3] == 2  # [CLS] is hidden
    assert data["axes"]["keys"]["of"][0] == -1


def test_what_is_chosen_becomes_the_page(open_app, monkeypatch):
    choice = {"layer": 5, "head": 11, "query": 4, "key": 2, "temperature": 2.0, "sort": "entropy"}
    state: dict = {"_parameters": Parameters()}
    with monkeypatch.context() as patch:
        patch.setattr("viz.frame.head_grid.grid.st.session_state", state)
        _choose("grid", (), choice)
    assert {name: state[name] for name in choice} == choice
    app = open_app()
    app.slider(key="layer").set_value(choice["layer"])
    for name in set(choice) - {"layer"}:
        app.session_state[name] = choice[name]
    app.run()
    assert not app.exception
    _, head, data = sent(app)
    assert (head["layer"], head["head"]) == (5, 11)
    assert {name: data["choice"][name] for name in choice} == choice
    assert {name: app.query_params[name] for name in choice} == {name: str(value) for name, value in choice.items()}


def test_a_link_reopens_the_choice_and_a_hostile_one_falls_back(open_app):
    link = {"layer": 1, "head": 8, "query": 2, "key": 3, "look": "across", "combine": "mean", "several": "20-3"}
    choice = sent(open_app(**link))[2]["choice"]
    assert choice == {"temperature": 1.0, "sort": "model", "show": "all"} | link | {"several": [20, 3]}
    app = open_app(head=99, query="<b>", key=-7, temperature="nan", sort="'; drop", several="9999", look="map")
    choice = sent(app)[2]["choice"]
    assert (choice["head"], choice["temperature"], choice["sort"], choice["several"]) == (1, 1.0, "model", [])
    assert choice["key"] == -1
    assert any("temperature" in one.value for one in app.info)


def test_another_text_forgets_the_lock_and_a_smaller_model_clamps_the_head(open_app):
    app = open_app(head=11, query=9, key=9)
    app.text_area(key="text").set_value("Only three words").run()
    _, _, data = sent(app)
    assert (data["choice"]["query"], data["choice"]["key"]) == (-1, -1)
    assert data["choice"]["head"] == 11
    app.radio(key="source").set_value("words").run()
    assert not app.exception
    assert sent(app)[2]["choice"]["head"] == 3


def test_a_long_text_is_pooled_and_the_chosen_head_is_whole(open_app):
    app = open_app(text="word " * 600, query=7, key=3)
    wall, head, data = sent(app)
    assert wall["n_queries"] == 512
    assert wall["pool"] == 6
    assert (head["rows"], head["columns"], head["codec"]) == (512, 512, "log")
    source = specs.Source(kind="model", text="word " * 600, model=REAL.model)
    pair = torch.stack([compute.read(source).layer(i).weights[:, 7, 3] for i in range(6)]).flatten()
    assert_close(torch.tensor(data["links"]), pair)


def test_several_heads_of_a_long_text_are_put_together_here():
    source = specs.Source(kind="model", text="word " * 600, model=REAL.model)
    heads = frozenset({(0, 2), (1, 8), (5, 11), (5, 3)})
    seen = compute.read(source)
    maps = torch.stack([seen.layer(layer).weights[head] for layer, head in heads])
    for how, want in (("mean", maps.mean(0)), ("max", maps.amax(0))):
        sent_map = unpack(head_grid.combined(source, heads, how, OWN, WEIGHTS))
        assert_close(sent_map["codes"].view(512, 512).float() / 65535, want, atol=8e-6, rtol=0)
