"""The page as a file: the app's own values in every view; offered where every head fits, built on a click."""

import pytest
import torch
from torch.testing import assert_close

from pages.heads import page_file
from tests.checkpoints import TEXT
from tests.components.test_head_grid import unpack
from tests.components.test_take_away import codes, read_file
from viz.components.head_grid import pool_of
from viz.core.analysis.checks import sink_share
from viz.core.masks import combine
from viz.frame import compute, mask_code, specs
from viz.frame.compute import head_grid
from viz.text import translator

PIECES = "The unbelievable hippopotamuses misunderstood electroencephalography."
SOURCE = specs.Source(kind="model", text=PIECES, model=compute.DEFAULT_MODEL)
CAUSAL = specs.Mask(kind="causal")
NOWHERE = mask_code.to_code(torch.arange(49).view(7, 7) >= 7)
"""A painted mask whose first row may look nowhere."""


@pytest.mark.parametrize("view", [{}, {"merge": True, "hide": True}, {"what": "scores"}], ids=str)
def test_its_values_are_the_walls(view):
    view = specs.View(**view)
    wall, (header, part) = unpack(head_grid.wall(SOURCE, CAUSAL, view)), read_file(head_grid.away(SOURCE, CAUSAL, view))
    (stack,) = header["stacks"]
    for name in ("n_layers", "n_heads", "n_queries", "n_keys", "rows", "columns", "pool", "what", "order"):
        assert stack[name] == wall[name], name
    n = len(compute.read(SOURCE).tokens.ids)
    if stack["wall"]:
        result = codes(part(*stack["wall"]), wall["values"].numel())
    else:
        result = torch.cat([codes(part(*head), n * n) for head in stack["heads"]])
    assert torch.equal(result, wall["values"].long())
    assert len(stack["heads"]) == (0 if view.what == "scores" else 72)


@pytest.mark.parametrize("n_heads", [1, 12, 72, 270])
def test_what_is_offered_is_exact(n_heads):
    most = page_file.longest(n_heads)
    assert [pool_of(n_heads, n, n) for n in (most, most + 1)] == [1, 2]


def test_built_only_on_request(open_app, monkeypatch):
    requests = []
    monkeypatch.setattr(head_grid, "away", lambda *spec: requests.append(spec))
    app = open_app(text=PIECES)
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    t = translator("en")
    assert t("export.page") in [button.proto.label for button in app.get("download_button")]
    assert requests == []
    app = open_app(text=" ".join([PIECES] * 12))
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    assert t("export.page") not in [button.proto.label for button in app.get("download_button")]
    n = len(compute.read(specs.Source(kind="model", text=" ".join([PIECES] * 12), model=SOURCE.model)).tokens.ids)
    sentences = t("export.page_too_long", n=n, most=page_file.longest(72), heads=72)
    assert sentences in [caption.value for caption in app.caption]


@pytest.fixture
def offer_small(small_model):
    """Return a function that offers a small checkpoint of a family, as ``--model`` does, and returns its source."""
    return lambda family: specs.Source(kind="model", text=TEXT, model=small_model(family))


def read_maps(source, mask, view):
    """Return a file's labels along the keys, and its maps (heads of all layers, Q, K) as shares of 1."""
    header, part = read_file(head_grid.away(source, mask, view, "nobody"))
    (stack,) = header["stacks"]
    n_queries, n_keys = stack["n_queries"], stack["n_keys"]
    places = [stack["wall"]] if stack["wall"] else stack["heads"]
    n = stack["n_layers"] * stack["n_heads"] * n_queries * n_keys
    values = torch.cat([codes(part(*place), n // len(places)) for place in places])
    assert stack["axes"]["same"] is (stack["axes"]["keys"]["labels"][-1] != "nobody")
    return stack["axes"]["keys"]["labels"], values.view(-1, n_queries, n_keys) / 65535


@pytest.mark.parametrize("family", ["gpt_oss", "granite_swa", "mimo_v2_flash"])
@pytest.mark.parametrize("mask", [{"kind": "own"}, {"kind": "painted", "painted": NOWHERE}], ids=["own", "nowhere"])
def test_page_sink_has_nobody_column(offer_small, family, mask):
    """Each row's share for no word stands in a column of its own, 0 in a layer without a sink."""
    source, mask = offer_small(family), specs.Mask(**mask)
    labels, maps = read_maps(source, mask, specs.View())
    capture = compute.read(source)
    assert labels[-1] == "nobody" and len(labels) == len(capture.tokens.ids) + 1
    for layer, of_layer in enumerate(maps.unflatten(0, (capture.n_layers, -1))):
        call, n = capture.calls[layer], len(labels) - 1
        allowed = combine(call.options["allowed"], mask.allowed(n, n))
        share = sink_share(call.q, call.k, **{**call.options, "allowed": allowed})
        expected = torch.zeros(of_layer.shape[:2]) if share is None else share.float()
        assert_close(of_layer[..., -1], expected, atol=2e-5, rtol=0)
        total = torch.ones_like(expected)
        if share is None and mask.kind == "painted":
            total[:, 0] = 0  # without a sink a row that may look nowhere gives nothing
        assert_close(of_layer.sum(-1), total, atol=2e-4, rtol=0)


@pytest.mark.parametrize(("view", "has_column"), [({"merge": True}, True), ({"hide": True}, False)], ids=str)
def test_page_sink_view_equals_app(offer_small, view, has_column):
    """Merged words keep the column; where tokens are hidden rows sum to 1 without it, as in the app."""
    source, view = offer_small("gpt_oss"), specs.View(**view)
    labels, maps = read_maps(source, specs.Mask(kind="own"), view)
    wall = unpack(head_grid.wall(source, specs.Mask(kind="own"), view))
    assert (labels[-1] == "nobody") is has_column
    words = maps[..., :-1] if has_column else maps
    assert torch.equal((words * 65535).round().long().flatten(), wall["values"].long())
    assert_close(maps.sum(-1), torch.ones_like(maps[..., 0]), atol=2e-4, rtol=0)


@pytest.mark.parametrize(("family", "layer"), [("gpt_oss", 0), ("mimo_v2_flash", 1)])
def test_page_sink_is_offered(open_app, offer_small, family, layer):
    """Also where the layer on the screen has no sink and another one has."""
    app = open_app(text=TEXT, source="model", model=offer_small(family).model, layer=layer)
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    assert not app.exception
    assert translator("en")("export.page") in [button.proto.label for button in app.get("download_button")]
