"""After random actions a page shows what a fresh browser shows on the same link: a fragment leaves nothing stale."""

import pytest

from pages import PAGES
from tools.random_walk import Walk

ACTIONS = 3
"""On each page; `python -m tools.random_walk` does 300."""


@pytest.mark.parametrize("name", PAGES)
def test_walk_on_page_equals_fresh_browser(browser, app_url, name):
    """Controls, views, text, sections and Back, chosen by a seed."""
    walk = Walk(browser, app_url, name, seed=1)
    try:
        wrong = [str(step) for step in walk.steps(ACTIONS) if step]
    finally:
        walk.close()
    assert not wrong, "\n".join(wrong)
