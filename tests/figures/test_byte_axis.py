"""Ticks of bytes: round in binary units, within the axis, and few enough to be read."""

import math

import numpy as np
import pytest

from viz.figures.byte_axis import LARGEST, MOST, byte_ticks, named_byte_ticks


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1000, 3e12), (2**20, 2**22), (5, 2**80)])
def test_logarithmic_ticks_are_whole_doublings(low, high):
    marks = byte_ticks(low, high, log=True)
    powers = np.log2(marks)
    assert (powers == powers.round()).all() and len(set(np.diff(powers))) <= 1
    assert low <= marks[0] and marks[-1] <= high and 1 <= len(marks) <= MOST + 1


@pytest.mark.parametrize(("low", "high"), [(0, 3), (0, 200 * 1024), (7e9, 8e9), (5, 5)])
def test_even_ticks_are_binary_steps(low, high):
    marks = byte_ticks(low, high)
    assert all(low <= mark <= high for mark in marks) and 1 <= len(marks) <= MOST + 1
    steps = {*np.diff(marks)}
    assert len(steps) <= 1 and all(math.log2(step).is_integer() for step in steps)


def test_names_are_those_of_sentences():
    axis = named_byte_ticks(np.array([2.0**10, math.nan, 2.0**14]), log=True)
    assert axis["tickvals"] == [2.0**power for power in range(10, 15)]
    assert axis["ticktext"] == ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB"]
    assert named_byte_ticks(np.array([0.0, 4096.0]), log=False)["ticktext"][::2] == [
        "0 B",
        "1 KiB",
        "2 KiB",
        "3 KiB",
        "4 KiB",
    ]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("value", [math.nan, -5.0, 1e300, -1e300])
def test_impossible_sizes_have_no_ticks(value, log):
    assert named_byte_ticks(np.array([value]), log=log) == {}
    assert named_byte_ticks(np.array([value, 1.0, LARGEST]), log=log)["tickvals"]
