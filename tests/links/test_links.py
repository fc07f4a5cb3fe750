"""A page shows at least the recorded numbers, anywhere on it."""

import numpy as np
import pytest

from pages import PAGES
from tests.links.shown import FITTED, RELATIVE, VISION, checks, digest, digests_of, missing
from tests.packaged import packaged_file
from tests.running import sentences_of, wrong_defaults
from tests.sections import link_to, views_of
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


ELSEWHERE = {
    "words": {"source": "words", "text": "four herons wait where herons wait", "d_model": 24, "n_heads": 4,
              "n_kv_heads": 2, "seed": 3, "head": 2, "mask": "window", "width": 2},
    "model": {"source": "model", "model": "twin-g2", "text": "red blue green red blue", "layer": 1, "head": 3,
              "mask": "causal"},
}  # fmt: skip
"""Choices that a user may have made on other pages, none of them a default."""


@pytest.mark.parametrize("choices", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize(("page", "view"), [(page, view) for page in PAGES for view in views_of(page)])
def test_link_holds_choices_of_elsewhere(open_app, page, view, choices):
    """A new session that has the link alone shows the same numbers and sentences."""
    first = open_app(page, **link_to(page, view), **choices)
    link = {name: first.query_params[name] for name in first.query_params}
    second = open_app(page, **link)
    assert not first.exception and not second.exception
    before, after = digests_of(first), digests_of(second)
    assert missing(before, after) == missing(after, before) == [], sorted(set(choices) - set(link))
    assert sentences_of(first) == sentences_of(second), sorted(set(choices) - set(link))


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
