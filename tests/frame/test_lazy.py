"""A property that is computed once, without a lock shared by other objects."""

import threading
from dataclasses import dataclass

import pytest

from tests import SAFETY_NET
from viz.frame.lazy import lazy


@dataclass(frozen=True)
class Page:
    go: threading.Event

    @lazy
    def slow(self) -> object:
        """A slow computation."""
        self.go.wait(SAFETY_NET)
        return object()


def test_lazy_on_frozen_object_computes_once():
    page = Page(threading.Event())
    page.go.set()
    assert page.slow is page.slow
    assert Page.slow.__doc__ == "A slow computation."


def test_lazy_does_not_block_other_pages():
    """functools.cached_property does in Python 3.11: one lock for the class, and two users stand still."""
    waiting, second_page = Page(threading.Event()), Page(threading.Event())
    second_page.go.set()
    first = threading.Thread(target=lambda: waiting.slow)
    first.start()
    second = threading.Thread(target=lambda: second_page.slow)
    second.start()
    second.join(SAFETY_NET)
    held_up = second.is_alive()
    waiting.go.set()
    first.join(SAFETY_NET)
    second.join(SAFETY_NET)
    assert not held_up


class Fails:
    tries = 0

    @lazy
    def value(self) -> int:
        self.tries += 1
        if self.tries == 1:
            raise ValueError
        return self.tries


def test_lazy_failure_is_tried_again():
    fails = Fails()
    with pytest.raises(ValueError):
        _ = fails.value
    assert fails.value == fails.value == 2
