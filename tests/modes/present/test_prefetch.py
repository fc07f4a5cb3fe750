"""The next step's pass is computed before the step is opened; its errors are not shown."""

from collections.abc import Callable
from typing import Any

import pytest

from viz.background import contained
from viz.frame import compute
from viz.modes.present import prefetch as module

TEXT = "one that is presented here alone"


def inline(name: str, work: Callable[[], object]) -> None:
    """Do the work of a thread at once."""
    with contained(name):
        work()


@pytest.fixture
def passes(monkeypatch):
    """The texts that a model reads from now on."""
    texts, capture = list[str](), compute.capture

    def count(model: Any, text: str, **options: Any) -> Any:
        texts.append(text)
        return capture(model, text, **options)

    monkeypatch.setattr(compute, "capture", count)
    return texts


def test_next_lesson_step_is_prefetched(open_app, monkeypatch):
    """Its sentence is another one than this step's: the model has read it by the time it is opened."""
    read = list[str]()
    monkeypatch.setattr("viz.modes.present.presenter.prefetch", lambda link: read.append(link.get("text", "")))
    open_app("heads", present=1, lesson="ten_minutes", lesson_step=1)
    assert len(read) == 1


def test_prefetched_text_is_read_once(open_app, monkeypatch, passes):
    """The page of the step finds the pass in the cache."""
    monkeypatch.setattr(module, "start_thread", inline)
    module.prefetch({"text": TEXT, "model": compute.DEFAULT_MODEL})
    assert passes == [TEXT]
    open_app("heads", text=TEXT)
    assert passes == [TEXT]


def test_seeded_heads_are_not_prefetched(passes):
    """They are computed in no time."""
    module.prefetch({"text": TEXT, "source": "words"})
    assert passes == []


def test_failed_prefetch_is_logged_without_text(monkeypatch, caplog):
    """The error appears when the step is opened."""

    def fail(source: Any) -> None:
        raise KeyError(source.text)

    monkeypatch.setattr(module, "start_thread", inline)
    monkeypatch.setattr(compute, "read", fail)
    module.prefetch({"text": TEXT, "model": compute.DEFAULT_MODEL})
    assert "prefetch failed: KeyError in " in caplog.text and TEXT not in caplog.text
    assert not module._lock.locked(), "the next one may begin"


def test_second_prefetch_is_dropped(monkeypatch, passes):
    """A presenter who goes on quickly fills no queue."""
    monkeypatch.setattr(module, "start_thread", inline)
    with module._lock:
        module.prefetch({"text": TEXT + " again", "model": compute.DEFAULT_MODEL})
    assert passes == []
