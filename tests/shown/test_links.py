"""The link of a section holds every choice that its numbers depend on."""

import pytest

from pages import PAGES
from tests.running import sentences_of
from tests.sections import link_to, views_of
from tests.shown.digests import digests_of, missing

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
