"""A page shows at least the recorded numbers, anywhere on it."""

import numpy as np
import pytest

from tests.links.shown import FITTED, RELATIVE, VISION, checks, digest, digests_of, missing
from tests.packaged import packaged_file
from tests.running import wrong_defaults
from tools.links import LINKS, name_of, open_link, read_record
from viz.models.registry import SMALL_DECODER

RECORD = read_record()
TIED = [name_of(link) for link in LINKS if link["page"] == "convolution" and link["parameters"].get("mask") == "window"]
"""Links whose mask leaves five cells to a fitted window: several windows explain the same share of a head there, and
which of them is found differs by processor. The share is compared, the centre is not."""
OPENING_OF_DECODER = {"page": "next_word", "parameters": {}}
"""If its package is installed, the small decoder reads there."""
PLACES = [f"{link['page']}-{i}" for i, link in enumerate(LINKS)]


@pytest.mark.fast(*PLACES[::8])
@pytest.mark.parametrize("link", LINKS, ids=PLACES)
def test_link_shows_recorded_page(open_app, link):
    if link == OPENING_OF_DECODER:
        packaged_file(SMALL_DECODER)
    app = open_link(open_app, link)
    (passing, failed), digests = RECORD[name_of(link)]
    assert not app.exception
    assert wrong_defaults(app) == {}, "the browser can start each widget anew"
    relative = VISION if "patch" in link["parameters"] else RELATIVE
    if name_of(link) in TIED:
        digests, relative = [digest_ for digest_ in digests if digest_.unit != FITTED["offset"]], VISION
    assert missing(digests, digests_of(app), relative) == []
    assert checks(app)[0] >= passing, "a check has been lost"
    assert checks(app)[1] == failed


def test_every_link_is_recorded_once():
    assert [name_of(link) for link in LINKS] == list(RECORD)


@pytest.mark.parametrize("link", LINKS[::8], ids=PLACES[::8])
def test_both_languages_show_same_values(open_app, link):
    english, chinese = (digests_of(open_link(open_app, link, lang=lang)) for lang in ("en", "zh"))
    assert missing(english, chinese) == missing(chinese, english) == []


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
