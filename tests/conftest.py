"""What every test has: nothing is fetched, and ``open_app`` runs the app without a browser."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub
os.environ |= {
    "HEADLIGHT_SECONDS": "600",
    "HEADLIGHT_WAIT": "600",
}  # a test machine may be slow: a limit is a test's own

import pytest
from plotly.graph_objects import Figure
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from viz.ui import controls

ROOT = Path(__file__).parents[1]
FOLDER = "pages"
PAGES = tuple(sorted(path.stem for path in (ROOT / FOLDER).glob("*.py")))
OpenApp = Callable[..., AppTest]


@cache
def _hash_of(page: str) -> str:
    """What Streamlit calls a page: its test harness finds out on the way from the default one, a link says it."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600).run()
    return app.switch_page(f"{FOLDER}/{page}.py")._page_hash


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """Run the app: ``open_app("step_by_step", source="words", lang="zh")``; ``locale`` is the browser's language.

    Every other name is a parameter of the link.
    """

    # Next to a folder called "pages" Streamlit runs the files in it without app.py, until app.py has run once. The test
    # harness forgets before every run that it has.
    make = PagesManager.__init__

    def remember(self: PagesManager, *args: Any, **options: Any) -> None:
        make(self, *args, **options)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", remember)
    controls._on_this_machine.cache_clear()
    monkeypatch.setattr("viz.ui.layout.unchecked", Figure)  # here every property of every figure is checked

    def run(page: str = "heads", *, locale: str = "en-US", **link: Any) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600)
        app.context = {"locale": locale}
        for name, value in link.items():
            app.query_params[name] = str(value)
        app._page_hash = _hash_of(page)
        return app.run()

    return run


def walk(block: Any) -> Iterator[Any]:
    """Every element and container below a part of the page, e.g. ``walk(app.main)``."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from walk(child)


def everything(app: AppTest) -> Iterator[Any]:
    """Every element and container of the page and the sidebar."""
    yield from walk(app.main)
    yield from walk(app.sidebar)
