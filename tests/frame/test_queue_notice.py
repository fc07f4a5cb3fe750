"""Pages are computed one after the other; one that waits or fails lets the next one begin."""

import threading
from contextlib import contextmanager

import pytest

from tests import SAFETY_NET
from viz.errors import ModelError
from viz.frame import queue_notice


class Page(threading.Thread):
    """A page that is written in a thread of its own, step by step."""

    def __init__(self, log, name, error=None):
        super().__init__(name=name, daemon=True)
        self.log, self.error, self.go = log, error, threading.Event()

    @contextmanager
    def beside(self):
        with queue_notice.aside():
            self.log.append(f"{self.name} aside")
            yield

    def run(self):
        with queue_notice.writing():
            self.log.append(f"{self.name} writes")
            if self.error:
                raise self.error
            with self.beside():
                assert self.go.wait(SAFETY_NET)
            self.log.append(f"{self.name} writes again")


@pytest.fixture
def log(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    yield []
    assert (queue_notice.stores().pages.working, queue_notice.stores().pages.waiting) == (0, 0)


def until(log, text):
    for _ in range(500):
        if text in log:
            return
        threading.Event().wait(0.01)
    raise AssertionError(log)


def test_pages_render_in_order_of_arrival(log):
    """One page renders at a time; the user who arrived first resumes first."""
    first, second = Page(log, "first"), Page(log, "second")
    first.start()
    until(log, "first aside")
    second.start()
    until(log, "second aside")
    with queue_notice.writing():
        second.go.set()
        first.go.set()
        while queue_notice.stores().pages.waiting < 2:
            threading.Event().wait(0.01)
        assert log == ["first writes", "first aside", "second writes", "second aside"]
    first.join()
    second.join()
    assert log[4:] == ["first writes again", "second writes again"]


def test_failed_page_releases_render_slot(log):
    failing, next_one = Page(log, "failing", ModelError("failed", kind="Test")), Page(log, "next")
    failing.start()
    failing.join()
    next_one.go.set()
    next_one.start()
    next_one.join()
    assert log == ["failing writes", "next writes", "next aside", "next writes again"]


def test_release_without_slot_is_allowed(log):
    with queue_notice.aside():
        assert queue_notice.stores().pages.working == 0
