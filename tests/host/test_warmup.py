"""The warm-up yields to users who wait for a page."""

from types import SimpleNamespace

from viz.host import warmup


def _served_after(monkeypatch, lines):
    """Return the number of waits, given successive numbers of running and waiting pages."""
    states, waits = iter(lines), []
    pages = SimpleNamespace()
    pages.working, pages.waiting = next(states)

    def sleep(seconds):
        waits.append(seconds)
        pages.working, pages.waiting = next(states, (0, 0))

    monkeypatch.setattr(warmup, "stores", lambda: SimpleNamespace(pages=pages))
    monkeypatch.setattr(warmup.time, "sleep", sleep)
    warmup._yield_to_pages()
    return len(waits)


def test_warmup_serves_waiting_users_first(monkeypatch):
    assert _served_after(monkeypatch, [(0, 0)]) == 1
    assert _served_after(monkeypatch, [(0, 0), (1, 3), (1, 2), (0, 1), (0, 0)]) == 4


def test_but_not_for_ever(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(warmup.time, "monotonic", lambda: next(clock))
    assert _served_after(monkeypatch, [(1, 0)] * 100) <= warmup.PATIENCE + 1
