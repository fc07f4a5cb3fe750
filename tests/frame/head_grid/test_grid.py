"""The data of the head grid, and the values that a user selects in it."""

import json

import pytest
import torch
from torch.testing import assert_close

from tests.components.test_head_grid import unpack
from viz.components.head_grid import Packed
from viz.core.analysis import map_statistics
from viz.frame import compute, specs
from viz.frame.compute import head_grid
from viz.frame.examples import examples

TEXT = examples()[0].text
PIECES = "The unbelievable hippopotamuses misunderstood electroencephalography."
REAL = specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)
WEIGHTS, MASK = specs.View(), specs.Mask()


def payloads(app):
    """The three messages of the grid: wall, head (taken apart), words and choices."""
    mounted = [view.proto for view in app.get("bidi_component") if view.proto.component_name == "headlight.head_grid"]
    wall, head = (unpack(Packed(data=proto.bytes, id="")) for proto in mounted[:2])
    return wall, head, json.loads(mounted[2].json)[0]


def test_added_mask_reaches_wall():
    wall = unpack(head_grid.wall(REAL, specs.Mask(kind="causal"), WEIGHTS))
    assert (wall["values"].view(72, 16, 16).int().triu(1) == 0).all()


def test_scores_precede_softmax_and_mark_mask():
    """Scores are those before the softmax, and masked ones are marked."""
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
def test_axis_groups_tokens(merge, hide):
    """Grouping by the axis, as the browser does it, is what viz.core.analysis.map_statistics does."""
    source, view = specs.Source(kind="model", text=PIECES, model=REAL.model), specs.View(merge=merge, hide=hide)
    trace = compute.read(source)
    place, map_ = head_grid.axis(trace.tokens, view), head_grid.layer_maps(source, 2, MASK, view)
    assert tuple(place.labels) == map_.labels
    assert place.sent()["count"] == len(map_.labels)
    of = torch.tensor(place.of)
    is_kept = of >= 0
    weights = map_statistics.merge_words(trace.layer(2).weights[:, is_kept][..., is_kept], of[is_kept], of[is_kept])
    weights = weights / weights.sum(-1, keepdim=True) if hide else weights
    assert_close(weights, map_.values)
    if merge and hide:
        assert map_.labels == ("The", "unbelievable", "hippopotamuses", "misunderstood", "electroencephalography", ".")


def test_lock_counts_tokens_or_rows(open_app):
    """A lock counts tokens in the link, and rows on the page."""
    app = open_app(text=PIECES, hide=1, query=3, key=0)
    _, _, data = payloads(app)
    assert data["choice"]["query"] == 3
    assert data["axes"]["queries"]["of"][3] == 2  # [CLS] is hidden
    assert data["axes"]["keys"]["of"][0] == -1


def test_link_restores_selection_or_falls_back(open_app):
    """A link restores the selection; a hostile one falls back to the default."""
    link = {"layer": 1, "head": 8, "query": 2, "key": 3, "look": "across", "combine": "mean", "several": "20-3"}
    choice = payloads(open_app(**link))[2]["choice"]
    assert choice == {"temperature": 1.0, "sort": "model", "show": "all"} | link | {"several": [20, 3]}
    app = open_app(head=99, query="<b>", key=-7, temperature="nan", sort="'; drop", several="9999", look="map")
    choice = payloads(app)[2]["choice"]
    assert (choice["head"], choice["temperature"], choice["sort"], choice["several"]) == (1, 1.0, "model", [])
    assert choice["key"] == -1
    assert any("temperature" in info.value for info in app.info)


def test_other_text_resets_lock(open_app):
    """Another text resets the lock, and a smaller model clamps the head."""
    app = open_app(head=11, query=9, key=9)
    app.text_area(key="text").set_value("Only three words").run()
    _, _, data = payloads(app)
    assert (data["choice"]["query"], data["choice"]["key"]) == (-1, -1)
    assert data["choice"]["head"] == 11
    app.radio(key="source").set_value("words").run()
    assert not app.exception
    assert payloads(app)[2]["choice"]["head"] == 3


def test_long_text_is_pooled_head_whole(open_app):
    """A long text is pooled, and the selected head is whole."""
    app = open_app(text="word " * 600, query=7, key=3)
    wall, head, data = payloads(app)
    assert wall["n_queries"] == 512
    assert wall["pool"] == 6
    assert (head["rows"], head["columns"], head["codec"]) == (512, 512, "log")
    source = specs.Source(kind="model", text="word " * 600, model=REAL.model)
    pair = torch.stack([compute.read(source).layer(i).weights[:, 7, 3] for i in range(6)]).flatten()
    assert_close(torch.tensor(data["links"]), pair)


def test_several_heads_are_combined_in_python():
    """Several heads of a long text are combined in Python."""
    source = specs.Source(kind="model", text="word " * 600, model=REAL.model)
    heads = frozenset({(0, 2), (1, 8), (5, 11), (5, 3)})
    trace = compute.read(source)
    maps = torch.stack([trace.layer(layer).weights[head] for layer, head in heads])
    for how, want in (("mean", maps.mean(0)), ("max", maps.amax(0))):
        sent_map = unpack(head_grid.combined(source, heads, how, MASK, WEIGHTS))
        assert_close(sent_map["codes"].view(512, 512).float() / 65535, want, atol=8e-6, rtol=0)
