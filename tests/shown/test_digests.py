"""Digests forgive rounding, and find what else differs."""

import numpy as np
import pytest

from tests.shown.digests import digest, missing


def some(n=200):
    return np.random.default_rng(0).normal(size=(n // 10, 10))


def test_rounding_is_not_missed():
    values = some()
    noise = 1e-6 * np.random.default_rng(1).normal(size=values.shape)
    expected = [digest("z", values), digest("view", np.arange(9.0))]
    assert missing(expected, [digest("view", np.arange(9.0)), digest("z", values * (1 + noise))]) == []
    assert missing([digest("z", np.full(5, 1e-7))], [digest("z", np.full(5, -1e-7))]) == [], "nothing but rounding"
    assert missing([digest("view", [7000, 9], 1)], [digest("view", [7001, 8], 1)]) == [], "rounded the other way"


def test_count_is_equal_on_every_processor():
    values = np.arange(7.0) * 912_384
    count = digest("count", values)
    nearby = count._replace(rotated=float(np.nextafter(count.rotated, 0)), length=float(np.nextafter(count.length, 0)))
    assert missing([count], [nearby]) == []
    shifted = values.copy()
    shifted[[3, 4]] += 1, -1  # the same total
    for changed_values in (shifted, values + np.eye(7)[2]):
        assert missing([count], [digest("count", changed_values)]) == [count]


@pytest.mark.parametrize("place", [(0, 0), (7, 3), (19, 9)])
def test_changed_value_is_found(place):
    values, changed_values = some(), some()
    changed_values[place] += 0.02
    assert missing([digest("z", values)], [digest("z", changed_values)]) == [digest("z", values)]


def test_other_differences_are_found():
    values, rows, hole = some(), some(), some()
    rows[[2, 3]] = rows[[3, 2]]
    hole[4, 4] = np.nan
    other_hole = np.roll(hole, 1, axis=0)
    expected = digest("z", values)
    for different in (digest("z", rows), digest("z", values.T), digest("y", values), digest("z", hole)):
        assert missing([expected], [different]) == [expected]
    assert missing([digest("z", hole)], [digest("z", other_hole)]) == [digest("z", hole)]
    assert missing([expected, expected], [expected]) == [expected], "each partner counts once"
    count = digest("count", [589_824, 16])
    assert missing([count], [digest("count", [589_825, 16])]) == [count], "a count is exact"
