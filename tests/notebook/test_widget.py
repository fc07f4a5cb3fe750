"""Many heads: small maps first, an exact one when it is opened, and files that say their size."""

import base64
import json
import sys
import zlib

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import viz
from tests.components.test_take_away import codes, read_file
from viz.components import head_grid, take_away
from viz.notebook import maps as maps_module
from viz.notebook import widget

LAYERS, HEADS, TOKENS = 3, 5, 43
WORDS = [f"w{i}" for i in range(TOKENS)]


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    """The limits of 1,024 heads of 1,024 tokens, as small as these maps."""
    monkeypatch.setattr(maps_module, "SENT_BYTES", 20_000)
    monkeypatch.setattr(head_grid, "EXACT_BYTES", 5_000)
    monkeypatch.setattr(head_grid, "POOLED_BYTES", 3_000)
    monkeypatch.setattr(widget, "MOST_FILE_BYTES", 50_000)


def build_maps(dtype=torch.float32, share=1.0):
    generator = torch.Generator().manual_seed(3)
    scores = 2 * torch.randn(LAYERS, 1, HEADS, TOKENS, TOKENS, generator=generator)
    weights = scores.masked_fill(torch.ones(TOKENS, TOKENS).triu(1).bool(), -torch.inf).softmax(-1)
    return tuple((share * weights).to(dtype))


def ask(grid, monkeypatch, **request):
    """The message that Python answers a view with."""
    messages = []
    monkeypatch.setattr(grid, "send", lambda content, buffers: messages.append((content, buffers)))
    grid._handle_custom_msg({"request": {"stack": grid.stack, **request}}, [])
    ((content, buffers),) = messages
    json.dumps(content, allow_nan=False)
    return content, buffers


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_show_many_heads_sends_small_maps(dtype):
    """The wall is pooled, one head is whole, and the bytes are far from those of all maps."""
    maps = build_maps(dtype)
    grid = viz.show(maps, WORDS, layer=2, head=3)
    header, part = read_file(grid.data)
    (stack,) = header["stacks"]
    pool = stack["pool"]
    assert pool == 5 and [place is not None for place in stack["heads"]] == [i == 13 for i in range(15)]
    want = torch.nn.functional.max_pool2d(torch.cat(maps).float(), pool, ceil_mode=True)
    wall = codes(part(*stack["wall"]), want.numel()).view(want.shape)
    assert_close(wall / 65535, want, atol=7.7e-6, rtol=0)
    exact_head = codes(part(*stack["heads"][13]), TOKENS**2).view(TOKENS, TOKENS)
    assert_close(exact_head / 65535, maps[2][0, 3].float(), atol=7.7e-6, rtol=0)
    assert len(grid.data) < 12_000 < 2 * LAYERS * HEADS * TOKENS**2
    assert "comes from Python when it is opened" in grid.notes[-1]


def test_show_many_heads_keeps_no_copy():
    """The tensors that were handed over are all that Python holds of the maps."""
    maps = build_maps()
    grid = viz.show(maps, WORDS)
    stack = grid._stacks[0]
    assert stack.open(1, 2).weights.data_ptr() == maps[1][0, 2].data_ptr()
    assert np.array_equal(grid.weights, maps[0][0, 0].numpy())


def test_opened_head_comes_exact(monkeypatch):
    maps = build_maps()
    grid = viz.show(maps, WORDS)
    content, (packed,) = ask(grid, monkeypatch, head=7)
    raw = zlib.decompress(packed)
    assert content["request"] == {"stack": "self", "head": 7} and content["low"] <= content["high"] < 0
    assert_close(codes(raw, TOKENS**2).view(TOKENS, TOKENS) / 65535, maps[1][0, 2], atol=7.7e-6, rtol=0)


@pytest.mark.parametrize(("how", "put_together"), [("mean", torch.mean), ("max", torch.amax)])
def test_heads_together_come_exact(monkeypatch, how, put_together):
    maps = build_maps()
    _, (packed,) = ask(viz.show(maps, WORDS), monkeypatch, combine=how, heads=[5, 6, 14])
    want = put_together(torch.stack([maps[1][0, 0], maps[1][0, 1], maps[2][0, 4]]), 0)
    combined_map = torch.from_numpy(np.frombuffer(packed, "<u2").astype(np.int64)).view(TOKENS, TOKENS)
    assert_close(combined_map / 65535, want, atol=7.7e-6, rtol=0)


def test_pair_comes_of_every_head(monkeypatch):
    maps = build_maps()
    content, buffers = ask(viz.show(maps, WORDS), monkeypatch, pair=[30, 11])
    assert buffers == [] and content["values"] == torch.cat(maps).flatten(0, 1)[:, 30, 11].tolist()


def test_missing_weight_has_a_small_column(monkeypatch):
    """The share that goes to no token is in the small maps and in the opened head."""
    maps = build_maps(share=0.75)
    grid = viz.show(maps, WORDS)
    header, part = read_file(grid.data)
    (stack,) = header["stacks"]
    expected = torch.cat([torch.cat(maps), torch.full((LAYERS, HEADS, TOKENS, 1), 0.25)], -1)
    want = torch.nn.functional.max_pool2d(expected, stack["pool"], ceil_mode=True)
    assert (stack["n_keys"], stack["columns"]) == (TOKENS + 1, want.shape[-1])
    assert_close(codes(part(*stack["wall"]), want.numel()).view(want.shape) / 65535, want, atol=7.7e-6, rtol=0)
    _, (packed,) = ask(grid, monkeypatch, head=4)
    exact_head = codes(zlib.decompress(packed), TOKENS * (TOKENS + 1)).view(TOKENS, TOKENS + 1)
    assert_close(exact_head / 65535, expected[0, 4], atol=7.7e-6, rtol=0)


def save_file(grid, file, **options):
    """A file's header, where its heads are listed."""
    text = grid.save_html(file, **options).read_text("utf8")
    data = base64.b64decode(text.split('id="numbers">')[1].split("<")[0])
    return read_file(data)[0]["stacks"][0]["heads"], text


def test_save_html_large_file_is_pooled(tmp_path, capsys, monkeypatch):
    """The file says what it pooled and which heads are exact."""
    monkeypatch.setattr(widget, "MOST_FILE_BYTES", 10_000)
    grid, file = viz.show(build_maps(), WORDS, layer=1, head=2), tmp_path / "heads.html"
    heads, text = save_file(grid, file, heads=[(2, 4)])
    expected_output = f"heads.html: {file.stat().st_size / 1e6:,.1f} MB. With every head whole"
    assert capsys.readouterr().out.startswith(expected_output)
    assert [i for i, place in enumerate(heads) if place] == [7, 14]
    assert "the largest of every 5 × 5 cells. Exact: 1·2, 2·4 (layer·head)." in text
    assert "comes from Python when it is opened" not in text.split('id="numbers"')[0].split('id="state"')[0]


def test_file_with_every_head_on_request(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(widget, "MOST_FILE_BYTES", 10_000)
    heads, text = save_file(viz.show(build_maps(), WORDS), tmp_path / "heads.html", heads="all")
    assert all(heads) and "Exact:" not in text.split('id="state"')[0]
    assert capsys.readouterr().out.startswith("heads.html: 0.")


def test_figure_is_the_head():
    """The chosen one, or another by its numbers, with the tokens literally on both sides."""
    maps = build_maps()
    grid = viz.show(maps, ["<b>", *WORDS[1:]], layer=2, head=3)
    for figure, want in ((grid.figure(), maps[2][0, 3]), (grid.figure(layer=1, head=0), maps[1][0, 0])):
        (trace,) = figure.data
        assert_close(torch.tensor(trace.z), want, atol=0, rtol=0)
        assert figure.layout.yaxis.labelalias["0"] == figure.layout.xaxis.labelalias["0"] == "&lt;b&gt;"
    assert figure.layout.yaxis.title.text == "the word that looks (query)"


def test_figure_uses_layer_numbers():
    maps = build_maps()
    grid = viz.show(maps, WORDS, layers=[2, 5, 7])
    assert_close(torch.tensor(grid.figure(layer=7, head=4).data[0].z), maps[2][0, 4], atol=0, rtol=0)


@pytest.mark.parametrize("place", [{"layer": 9}, {"layer": -1}, {"head": 5}, {"head": -1}])
def test_figure_of_no_head_is_refused(place):
    with pytest.raises(ValueError, match="layers are 0, 1, 2, with 5 heads each"):
        viz.show(build_maps(), WORDS).figure(**place)


def test_figure_without_plotly_raises(monkeypatch):
    grid = viz.show(build_maps(), WORDS)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ImportError, match="pip install plotly"):
        grid.figure()


def test_checks_hold_for_many_heads():
    """Numbers that are no weights are refused there too, and a mask is known."""
    for change, sentence in ((lambda w: w * 2, "sums to 2.000"), (lambda w: w - 0.1, "are negative"),
                             (lambda w: w.where(w != w.max(), torch.nan), "are no numbers")):  # fmt: skip
        maps = build_maps()
        with pytest.raises(ValueError, match=sentence):
            viz.show((*maps[:2], change(maps[2])), WORDS)
    assert take_away.PooledStack in {type(stack) for stack in viz.show(build_maps(), WORDS)._stacks}
    mask = viz.show(build_maps(), WORDS)._stacks[0].open(0, 0).masked
    assert torch.equal(mask, torch.ones(TOKENS, TOKENS).triu(1).bool())


@pytest.mark.parametrize("is_pooled", [False, True])
def test_saved_file_shows_missing_share(tmp_path, monkeypatch, is_pooled):
    """The share that rows give to no token is the last column of a file's maps, under its name."""
    monkeypatch.setattr(widget, "MOST_FILE_BYTES", 10_000 if is_pooled else 10_000_000)
    maps = build_maps(share=0.75)
    text = viz.show(maps, WORDS, layer=1, head=2).save_html(tmp_path / "heads.html").read_text("utf8")
    header, part = read_file(base64.b64decode(text.split('id="numbers">')[1].split("<")[0]))
    (stack,) = header["stacks"]
    assert stack["axes"]["keys"]["labels"][-1] == "(missing)" and not stack["axes"]["same"]
    assert "The missing share has a column of its own" in text
    n_queries, n_keys = stack["n_queries"], stack["n_keys"]
    exact_heads = [place for place in stack["heads"] if place]
    assert len(exact_heads) == (1 if is_pooled else 15)
    for place in exact_heads:
        values = codes(part(*place), n_queries * n_keys).view(n_queries, n_keys) / 65535
        assert_close(values[:, -1], torch.full((n_queries,), 0.25), atol=1e-3, rtol=0)
    small = codes(part(*stack["wall"]), 15 * stack["rows"] * stack["columns"]).view(15, stack["rows"], -1) / 65535
    expected = torch.cat([torch.cat(maps).flatten(0, 1), torch.full((15, n_queries, 1), 0.25)], -1)
    assert_close(
        small, torch.nn.functional.max_pool2d(expected[:, None], stack["pool"], ceil_mode=True)[:, 0], atol=1e-4, rtol=0
    )


def test_figure_shows_missing_share():
    """The figure's last column is what rows give to no token, as the grid has it."""
    maps = build_maps(share=0.75)
    (trace,) = viz.show(maps, WORDS, layer=1, head=2).figure().data
    values = torch.tensor(trace.z)
    assert_close(values[:, :-1], maps[1][0, 2], atol=0, rtol=0)
    assert_close(values[:, -1], torch.full((len(values),), 0.25), atol=1e-6, rtol=0)
    assert values.shape[1] == len(WORDS) + 1


def test_show_many_heads_converts_no_layer(monkeypatch):
    """To measure the rounding of 16-bit weights takes a part of a layer: a whole one in float32 takes seconds."""
    numbers = []
    read = maps_module.LayersAsGiven.__getitem__
    monkeypatch.setattr(
        maps_module.LayersAsGiven, "__getitem__", lambda self, number: numbers.append(number) or read(self, number)
    )
    viz.show(build_maps(torch.bfloat16, share=0.75), WORDS)
    assert numbers == []
