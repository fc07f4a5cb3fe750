"""A computation can be stopped between layers: whoever runs it says when, and the layers ask."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


def check() -> None:
    """Called before every layer: raises what the present computation's own check raises, if it has one."""
    if ask := _check.get():
        ask()


@contextmanager
def checked_by(ask: Callable[[], None]) -> Iterator[None]:
    """Inside the ``with``, in this thread, :func:`check` asks this."""
    token = _check.set(ask)
    try:
        yield
    finally:
        _check.reset(token)
