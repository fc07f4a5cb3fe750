"""Loading after the first page, and the pages that wait for it."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests import SAFETY_NET
from viz.frame import queue_notice
from viz.frame.connection import loading
from viz.imports import importing


@contextmanager
def somebody_imports() -> Iterator[None]:
    """Inside the ``with`` another thread imports something large."""
    start, end = threading.Event(), threading.Event()

    def work() -> None:
        with importing():
            start.set()
            end.wait(SAFETY_NET)

    thread = threading.Thread(target=work)
    thread.start()
    start.wait(SAFETY_NET)
    try:
        yield
    finally:
        end.set()
        thread.join(SAFETY_NET)


@pytest.fixture
def cold() -> Iterator[None]:
    """A public server that is not warm."""
    loading.start_cold()
    yield
    loading.mark_warm()


def test_module_is_awaited_until_imported(monkeypatch):
    """A module is awaited while another is imported, and returned at once from then on."""
    monkeypatch.setattr(loading, "_imported_modules", set())
    results = []
    ask = threading.Thread(target=lambda: results.append(loading.module("colorsys")))
    with somebody_imports():
        ask.start()
        ask.join(0.2)
        assert not results
    ask.join(SAFETY_NET)
    with somebody_imports():
        assert loading.module("colorsys") is results[0] is sys.modules["colorsys"]


def test_cold_server_loads_after_first_page(cold, monkeypatch):
    """A cold server that the first page has reached loads the rest by itself."""
    monkeypatch.setattr(loading, "_MOMENT", 0)
    monkeypatch.setattr(loading, "_threads", start := [])
    assert not loading.is_asked(0)
    loading.begin("pages.heads.page")
    assert loading.is_asked(60)
    assert not start


def test_cold_server_imports_wanted_page_itself(cold, monkeypatch):
    """It is asked to, and no thread of the page's begins beside it."""
    monkeypatch.setattr(loading, "_threads", start := [])
    monkeypatch.setattr(loading, "_COMPUTE", "viz.frame.not_imported_yet")
    loading.begin_to_import("pages.masks.page")
    assert loading.is_asked(0) and not start


def test_page_modules_are_imported_once(monkeypatch):
    """The modules of a page are imported once, and no model is loaded."""
    imported, start = [], []
    warmed = threading.Event()
    browser = SimpleNamespace(warm=warmed.set)
    monkeypatch.setattr(loading, "_threads", start)
    monkeypatch.setattr(loading, "_COMPUTE", "viz.frame.not_imported_yet")
    monkeypatch.setattr(loading, "module", lambda name: imported.append(name) or browser)
    for _ in range(2):
        loading.begin_to_import("pages.masks.page")
    start[0].join(SAFETY_NET)
    assert imported == ["viz.frame.not_imported_yet", "pages.masks.page"]
    assert warmed.is_set() and len(start) == 1


def test_thread_loads_into_its_app(monkeypatch):
    """Loading uses the app that requested the page, while another is served."""
    results, start, stores = [], [], queue_notice.make_stores()
    monkeypatch.setattr(loading, "_threads", start)
    monkeypatch.setattr(loading, "_COMPUTE", "viz.frame.not_imported_yet")
    monkeypatch.setattr(loading, "_import", lambda *modules: results.append(queue_notice.stores()))
    with queue_notice.serve(queue_notice.make_stores()), queue_notice.use(stores):
        loading.begin_to_import("pages.masks.page")
        start[0].join(SAFETY_NET)
    assert results == [stores]


def test_missing_module_is_requested_and_awaited(cold):
    """A page on a cold server requests a module that is missing and waits for it."""
    arrival = threading.Event()

    def visit() -> None:
        loading.wait_until_warm()
        arrival.set()

    thread = threading.Thread(target=visit)
    thread.start()
    assert loading.is_asked(60)
    assert not arrival.wait(0.3)
    loading.mark_warm()
    assert arrival.wait(SAFETY_NET)
    thread.join(SAFETY_NET)
    visit()
