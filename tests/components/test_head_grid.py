import json
import math

import pytest
import torch
from torch.nn.functional import softmax
from torch.testing import assert_close

from viz.components import head_grid
from viz.components.head_grid import Packed, log_codes, pack, pack_combined, pack_head, pack_wall, pool_of, score_codes

INF = torch.inf
TYPES = {"uint16": torch.uint16, "float32": torch.float32}


def unpack(packed: Packed):
    """Unpack data as client/bytes.js does."""
    data = packed.data
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    at = 4 + length
    for name, kind, count in header["blocks"]:
        dtype = TYPES[kind]
        assert at % 4 == 0, "blocks must be aligned"
        header[name] = torch.frombuffer(bytearray(data[at : at + count * dtype.itemsize]), dtype=dtype)
        at += -(-count * dtype.itemsize // 4) * 4
    assert at == len(data)
    return header


def random_weights(*shape, seed=0, sharpness=2.0):
    return softmax(sharpness * torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), -1)


def by_hand(maps, pool):
    """Another way to the largest of each block."""
    rows = [part.amax(-2) for part in maps.split(pool, -2)]
    return torch.stack([torch.stack([part.amax(-1) for part in row.split(pool, -1)], -1) for row in rows], -2)


def test_id_depends_on_content_alone():
    block = torch.tensor([0.5, 0.25])
    assert pack({"a": 1}, {"x": block}).id == pack({"a": 1}, {"x": block.clone()}).id
    assert pack({"a": 1}, {"x": block}).id != pack({"a": 2}, {"x": block}).id
    assert pack({"a": 1}, {"x": block}).id != pack({"a": 1}, {"x": block * 2}).id


@pytest.mark.parametrize("what", ["weights", "scores"])
def test_wall_is_unpacked_unchanged(what):
    layers = [random_weights(3, 5, 7, seed=layer) for layer in range(2)]
    if what == "scores":
        layers = [(maps * 40 - 7).masked_fill(torch.ones(5, 7).triu(1).bool(), -INF) for maps in layers]
    measures = [{"entropy": torch.tensor([0.0, 1.0, 2.0]) + i, "first": torch.full((3,), math.nan)} for i in range(2)]
    wall = unpack(pack_wall(zip(layers, measures, strict=True), n_layers=2, what=what, channel="c"))
    assert [wall[name] for name in ("n_layers", "n_heads", "n_queries", "n_keys", "rows", "columns", "pool")] == [
        2, 3, 5, 7, 5, 7, 1,
    ]  # fmt: skip
    codes, expected = wall["values"].view(6, 5, 7).float(), torch.cat(layers)
    if what == "weights":
        assert_close(codes / 65535, expected, atol=7.7e-6, rtol=0)
    else:
        low, high = wall["ranges"].view(6, 2).T[:, :, None, None]
        back = (low + (high - low) * codes / 65534).masked_fill(codes == 65535, -INF)
        assert_close(back, expected, atol=float((high - low).max()) / 65534, rtol=0)
    assert wall["order"] == ["entropy", "first"]
    assert_close(wall["measures"].view(2, 6)[0], torch.tensor([0.0, 1, 2, 1, 2, 3]))
    assert wall["measures"].view(2, 6)[1].isnan().all()


def test_pooled_wall_shows_single_strong_weight():
    """A large wall is pooled, and a strong single weight is still visible."""
    maps = random_weights(72, 149, 151, sharpness=0.1)
    maps[71, 148, 150] = 0.93
    wall = unpack(pack_wall([(maps, {"a": torch.zeros(72)})], n_layers=1, what="weights"))
    assert wall["pool"] == 2
    assert (wall["rows"], wall["columns"]) == (75, 76)
    assert_close(wall["values"].view(72, 75, 76).float() / 65535, by_hand(maps, 2), atol=7.7e-6, rtol=0)
    assert int(wall["values"].int()[-1]) == round(0.93 * 65535)


@pytest.mark.parametrize("n_heads", [1, 12, 72, 336])
@pytest.mark.parametrize("n", [1, 13, 127, 131, 149, 512])
def test_wall_within_limit_is_exact(n_heads, n):
    """A wall stays within its limit and is exact where it fits."""
    pool = pool_of(n_heads, n, n)
    size = 2 * n_heads * math.ceil(n / pool) ** 2
    assert size <= (2_500_000 if pool == 1 else 1_500_000)
    if pool == 2:
        assert 2 * n_heads * n * n > 2_500_000
    if pool > 2:
        assert 2 * n_heads * math.ceil(n / (pool - 1)) ** 2 > head_grid.POOLED_BYTES


def test_message_of_one_picture():
    numbers = {name: torch.zeros(12) for name in "abcdefgh"}
    exact = pack_wall([(random_weights(12, 128, 128), numbers)] * 6, n_layers=6, what="weights")
    assert (exact.pool, len(exact.data) <= 2_500_000) == (1, True)
    pooled = pack_wall([(random_weights(12, 512, 512), numbers)] * 6, n_layers=6, what="scores")
    assert pooled.pool > 1
    assert len(pooled.data) <= 1_500_000
    scores = torch.randn(512, 512, generator=torch.Generator().manual_seed(0))
    assert len(pack_head(scores).data) <= 600_000
    assert len(pack_head(scores[:383, :383]).data) <= 600_000
    assert len(pack_combined(scores.softmax(-1)).data) <= 600_000


def decode(codes, tops, reach):
    y = head_grid.SHARPNESS * torch.expm1(codes.double() / 65534 * math.log1p(reach / head_grid.SHARPNESS))
    return (tops[:, None].double() - y).masked_fill(codes.int() == 65535, -INF)


@pytest.mark.parametrize("spread", [1, 10, 100])
def test_log_codes_keep_softmax(spread):
    scores = torch.randn(97, 401, generator=torch.Generator().manual_seed(spread)).double()
    scores = scores * spread / 6
    scores[:, 390:] = -INF
    scores[96] = -INF  # a row that may look nowhere
    codes, tops, reach = log_codes(scores)
    back = decode(codes, tops, reach)
    assert torch.equal(back.isinf(), scores.isinf())
    for temperature in (0.25, 1.0, 4.0):
        want = softmax(scores[:96] / temperature, -1)
        # 4 decimals: half a step of the code costs at most 2.5e-5 / min(T, 1) of a weight, less after normalising
        assert_close(softmax(back[:96] / temperature, -1), want, atol=5e-5, rtol=0)


def test_scores_all_masked_or_all_equal():
    codes, ranges = score_codes(torch.stack([torch.full((2, 3), -INF), torch.full((2, 3), 1.5)]))
    assert (codes[0].int() == 65535).all()
    assert ranges.tolist() == [[0, 0], [1.5, 1.5]]
    low, high = ranges[1]
    assert_close(low + (high - low) * codes[1].float() / 65534, torch.full((2, 3), 1.5))
