"""After random actions a page shows what a fresh browser shows on the same link: a fragment leaves nothing stale."""

import pytest

from pages import PAGES
from tools.random_walk import CONTROLS, INTERRUPTIONS, PLAIN, Walk

ACTIONS = 3
"""On each page; `python -m tools.random_walk` does 300."""


@pytest.mark.fast("heads")
@pytest.mark.parametrize("name", PAGES)
def test_walk_on_page_equals_fresh_browser(browser, app_url, name):
    """Controls, views, text, sections and Back, chosen by a seed."""
    assert not mismatches(browser, app_url, name, ACTIONS, (*PLAIN, *CONTROLS))


@pytest.mark.parametrize("kind", INTERRUPTIONS)
def test_interrupted_action_equals_fresh_browser(browser, app_url, kind):
    """Two actions in one run, another page and back, a connection that is cut, a tab that sleeps."""
    assert not mismatches(browser, app_url, "masks", ACTIONS, [kind])


def mismatches(browser, url, name, n, kinds):
    """The mismatches of n actions of these kinds on a page."""
    walk = Walk(browser, url, name, seed=1, kinds=kinds)
    try:
        return [str(step) for step in walk.steps(n) if step]
    finally:
        walk.close()
