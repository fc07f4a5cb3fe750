"""What may be shown next is computed before it is asked for, where nobody sees it."""

from collections.abc import Callable
from typing import Any

from pages.masks.page import PAGE
from viz.frame.present import ahead
from viz.scheduler.cache import Store


class Inline:
    """What is done ahead, done at once: a test has no server that lives on."""

    def __init__(self, *, target: Callable[..., None], args: tuple[Any, ...], **_: Any) -> None:
        self.start = lambda: target(*args)


def test_the_next_step_is_computed_while_this_one_is_shown(open_app, monkeypatch):
    computed, make = list[str](), Store._make
    monkeypatch.setattr(Store, "_make", lambda store, key, what: (computed.append(key[0]), make(store, key, what))[1])
    following = next(section.name for section in PAGE.sections if section.name == "every_mask")
    before = PAGE.sections[[section.name for section in PAGE.sections].index(following) - 1].name
    open_app("masks", text="a text that is read here alone", section=following, source="words")
    assert computed, "this page computes something"
    with monkeypatch.context() as patch:
        patch.setattr(ahead, "_nobody_is_served", lambda *_: True)  # here it is the visitor's own run
        patch.setattr(ahead, "Thread", Inline)
        shown = open_app("masks", present=1, text="one that is presented", section=before, source="words")
    assert not shown.exception
    assert "_ahead" in shown.session_state
    computed.clear()
    open_app("masks", text="one that is presented", section=following, source="words")
    assert computed == [], "all that the next step needs is there"


def test_what_fails_where_nobody_sees_it_is_nobodys_trouble(open_app, caplog):
    def draw(page: str) -> None:
        raise ValueError("a text of a visitor's")

    import threading

    with caplog.at_level("INFO", logger=ahead.__name__):
        ahead.rehearse(ahead.Step(page="heads", query=""), draw, threading.Event())
    assert "not computed ahead" in caplog.text
    assert "visitor" not in caplog.text
