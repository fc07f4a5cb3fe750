"""The saved file: the app's own bytes for every weight, small ones good for any temperature, in 3 MB of HTML."""

import json
import math
import zlib

import pytest
import torch
from torch.testing import assert_close

from tests.components.test_head_grid import unpack
from viz.components import head_grid
from viz.components.head_grid import Axis, pack_wall
from viz.components.one_file import Caption, page
from viz.components.take_away import LEVELS, MASKED, SMALL, ZERO, Heads, Stack, payload

INF = torch.inf


def read_file(data: bytes):
    """Read a file as client/take_away/decode.js does: the header, and the inflated bytes of a part."""
    length = int.from_bytes(data[:4], "little")
    body = data[4 + length :]
    return json.loads(data[4 : 4 + length]), lambda at, size, *_: zlib.decompress(body[at : at + size])


def codes(raw, count):
    high, low = (torch.tensor(list(raw[part * count : (part + 1) * count])) for part in (0, 1))
    return high * 256 + low


def logarithms(raw, count, low, high):
    logarithms_ = codes(raw, count)
    logs = (logarithms_.double() / 65535).log()
    tails = torch.tensor(list(raw[2 * count :])).double()
    exact = low + (high - low) * tails / LEVELS
    logs[logarithms_ < SMALL] = exact.where(tails != ZERO, -1e4).where(tails != MASKED, -INF)
    return logs


def scores_of(*shape, spread, seed=0):
    return spread * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def stack_of(layers, rows, columns, **about):
    axes = {name: Axis(of=range(n), labels=["w"] * n) for name, n in (("queries", rows), ("keys", columns))}
    return Stack(name="self", layers=layers, n_layers=len(layers), **axes, **about)


def measured_page(weights, **more):
    return Heads(weights=weights, measures={"entropy": torch.arange(len(weights)) * 1.0}, **more)


def test_weights_equal_the_apps_codes():
    maps = [scores_of(3, 7, 11, spread=3, seed=i).softmax(-1) for i in range(2)]
    header, part = read_file(payload([stack_of([measured_page(layer) for layer in maps], 7, 11, same=False)]))
    (stack,) = header["stacks"]
    measures = [{"entropy": torch.arange(3) * 1.0}] * 2
    wall = unpack(pack_wall(zip(maps, measures, strict=True), n_layers=2, what="weights"))
    expected = torch.cat([codes(part(*head), 77) for head in stack["heads"]])
    assert torch.equal(expected, wall["values"].long())
    assert [stack[name] for name in ("n_layers", "n_heads", "rows", "columns", "pool", "wall")] == [
        2,
        3,
        7,
        11,
        1,
        None,
    ]
    assert stack["measures"] == wall["measures"].tolist()


def test_large_wall_is_pooled_heads_whole(monkeypatch):
    """A wall that is too large is pooled as the app's; every single head is whole."""
    monkeypatch.setattr(head_grid, "EXACT_BYTES", 500)
    monkeypatch.setattr(head_grid, "POOLED_BYTES", 300)
    maps = scores_of(3, 13, 11, spread=2).softmax(-1)
    header, part = read_file(payload([stack_of([measured_page(maps)], 13, 11, same=False)]))
    (stack,) = header["stacks"]
    wall = unpack(pack_wall([(maps, {"a": torch.zeros(3)})], n_layers=1, what="weights"))
    assert stack["pool"] == wall["pool"] == 2
    assert torch.equal(codes(part(*stack["wall"]), wall["values"].numel()), wall["values"].long())
    last = codes(part(*stack["heads"][-1]), 13 * 11).view(13, 11)
    assert_close(last / 65535, maps[-1], atol=7.7e-6, rtol=0)


@pytest.mark.parametrize("spread", [1, 6, 30])
def test_small_weights_serve_any_temperature(spread):
    scores = scores_of(97, 101, spread=spread).double()
    scores[:, 90:] = -INF
    mask = scores.isneginf()
    layer = measured_page(scores.softmax(-1)[None], masked=mask, logarithms=scores.log_softmax(-1)[None])
    header, part = read_file(payload([stack_of([layer], 97, 101)]))
    (place,) = header["stacks"][0]["heads"]
    logs = logarithms(part(*place), 97 * 101, *place[2:]).view(97, 101)
    assert torch.equal(logs.isneginf(), mask)
    for temperature in (0.1, 0.5, 1.0, 2.0, 10.0):
        want = (scores / temperature).softmax(-1)
        # two decimals are written then; scores that are 30 apart no model has
        assert_close((logs / temperature).softmax(-1), want, atol=5e-3 if spread == 30 else 1e-3, rtol=0)


def test_zero_weight_stays_zero():
    weights = torch.tensor([[[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]])
    header, part = read_file(payload([stack_of([measured_page(weights, masked=torch.eye(2, 3).bool())], 2, 3)]))
    logs = logarithms(part(*header["stacks"][0]["heads"][0]), 6, 0, 0)
    assert logs.tolist()[2:] == [-1e4, -1e4, 0, -1e4]


def test_scores_equal_the_apps_message():
    scores = scores_of(5, 7, 7, spread=9).masked_fill(torch.ones(7, 7).triu(1).bool(), -INF)
    layer = measured_page(scores.softmax(-1), shown=scores)
    header, part = read_file(payload([stack_of([layer], 7, 7, what="scores")]))
    (stack,) = header["stacks"]
    wall = unpack(pack_wall([(scores, {"entropy": torch.arange(5) * 1.0})], n_layers=1, what="scores"))
    assert torch.equal(codes(part(*stack["wall"]), 5 * 49), wall["values"].long())
    assert stack["ranges"] == wall["ranges"].tolist()
    assert stack["heads"] == []


@pytest.mark.parametrize("spread", [0.1, 4])
def test_72_heads_fit_3_mb(spread):
    """72 heads of 128 tokens fit 3 MB. Random maps are the hardest to compress; a model's take 2.3 MB."""
    layers = [measured_page(scores_of(12, 128, 128, spread=spread, seed=i).softmax(-1)) for i in range(6)]
    data = payload([stack_of(layers, 128, 128)])
    assert len(page(data, {}, Caption(title="x"), "zh").encode()) < 3_000_000


HOSTILE = "</script><script>alert(1)</script><!-- \u2028 <img src=x onerror=alert(2)> {q} \"'&amp;"


def test_markup_in_text_is_escaped():
    """Markup in a text stands on the page as text."""
    axes = {name: Axis(of=[0], labels=[HOSTILE]) for name in ("queries", "keys")}
    layer = Heads(weights=torch.ones(1, 1, 1), measures={"first": torch.tensor([math.nan])})
    data = payload([Stack(name="self", layers=[layer], n_layers=1, **axes)])
    caption = Caption(title=HOSTILE, text=HOSTILE, facts=(HOSTILE,), link="javascript:alert(3)")
    html = page(data, {"sort": HOSTILE}, caption, "en")
    assert html.count("<script") == html.count("</script") == 3
    assert "<img" not in html and "<!--" not in html and "javascript:" not in html
    header, _ = read_file(data)
    assert header["stacks"][0]["axes"]["queries"]["labels"] == [HOSTILE]
    assert header["stacks"][0]["measures"] == [None]
