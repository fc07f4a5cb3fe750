"""The data of the picture of two texts: codes by hand, their loss, and their size in bytes."""

import numpy as np
import torch
from torch.testing import assert_close

from viz.components.comparison import (
    MISSING,
    difference_codes,
    farthest_of_blocks,
    pack_differences,
    pack_two,
    two_maps,
    unpacked,
)
from viz.components.head_grid import pack_wall


def differences(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0)) * 2 - 1


def test_difference_error_is_below_colour_step():
    values = differences(3, 11, 11)
    values[:, 4] = torch.nan
    codes = difference_codes(values)
    assert (codes == MISSING).equal(values.isnan())
    share = codes.double() / 127 - 1
    rooted = values.sign() * values.abs().sqrt()
    there = ~values.isnan()
    assert (share - rooted)[there].abs().max() <= 1 / 254 + 1e-6
    assert difference_codes(torch.zeros(1)).item() == 127


def test_pooled_difference_keeps_sign():
    """The farthest value of a block keeps its sign."""
    values = differences(2, 7, 7)
    values[:, 5:, 3] = torch.nan
    values[0, 6, 6] = torch.nan
    pooled = farthest_of_blocks(values, 3)
    assert pooled.shape == (2, 3, 3)
    for head in range(2):
        for row in range(3):
            for column in range(3):
                block = values[head, 3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
                block = block[~block.isnan()]
                expected = block[block.abs().argmax()] if len(block) else torch.tensor(torch.nan)
                assert_close(pooled[head, row, column], expected, equal_nan=True)


def test_128_tokens_fit_message():
    """One byte a cell beside two, and one head's two maps: the head grid sends 2.4 MB for the same."""
    maps = [(differences(12, 128, 128), torch.rand(12)) for _ in range(6)]
    wall = pack_differences(maps, n_layers=6, order="change")
    picture = pack_wall(
        ((values.abs(), {"entropy": change}) for values, change in maps), n_layers=6, what="weights", channel="grid"
    )
    two = pack_two(maps[0][0][0].abs(), maps[1][0][0].abs(), what="weights")
    assert wall.pool == 1
    assert len(wall.data) + len(two.data) < 0.54 * len(picture.data) < 1_300_000
    assert unpacked(wall)["values"].size == 72 * 128 * 128
    long = pack_differences([(differences(12, 300, 300), torch.rand(12))] * 6, n_layers=6, order="change")
    assert long.pool == 3
    assert len(long.data) < 1_250_000


def test_two_maps_are_read_back():
    a, b = differences(2, 11, 11).abs()
    a[3] = a[:, 3] = torch.nan
    for what, factor in (("weights", 1.0), ("arrives", 7.0)):
        message = unpacked(pack_two(a * factor, b * factor, what=what))
        maps = two_maps(message)
        limit = 1.0 if what == "weights" else float(torch.cat([a, b]).nan_to_num(0).max()) * factor
        assert_close(message["limit"], limit)
        for mine, expected in zip(maps, (a, b), strict=True):
            np.testing.assert_allclose(mine, expected.numpy() * factor, atol=limit / 65535 / 2 + 1e-6)


def test_no_difference_sends_nothing():
    empty = torch.zeros(2, 2)
    assert all((map_ == 0).all() for map_ in two_maps(unpacked(pack_two(empty, empty, what="arrives"))))
