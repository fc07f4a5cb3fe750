"""A separate cache for long texts, with few and large results; and the progress of a pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from viz import limits
from viz.frame.compute import kind_of
from viz.frame.queue_notice import stores, until
from viz.scheduler.cache import CachedFunction, Store
from viz.scheduler.stores import Stores

P = ParamSpec("P")
R = TypeVar("R")

_listener: ContextVar[Callable[[float], None] | None] = ContextVar("told", default=None)


def store() -> Store:
    """Return where the app keeps them."""
    return stores().long_texts


def kept_pass(function: Callable[P, R]) -> CachedFunction[P, R]:
    """A pass over a long text: few at once, with more time than others, kept until another needs the room."""
    return CachedFunction(function, store, "long", until)


def kept_long(function: Callable[P, R]) -> CachedFunction[P, R]:
    """Cache a function of the result of such a pass."""
    return CachedFunction(function, store, kind_of, until)


def most_tokens() -> int:
    """The longest text that this server reads: a public one, which has a ceiling for its memory, reads less."""
    return _most_tokens(stores())


def _most_tokens(of: Stores) -> int:
    return limits.LONG_TOKENS or (limits.TOKENS if of.memory.most() < float("inf") else limits.LONGEST)


def keep_less(of: Stores) -> None:
    """A server that reads shorter texts keeps no more of them than of two of its longest."""
    of.long_texts.most_bytes = min(of.bounds.long_bytes, 2 * _most_tokens(of) * limits.LONG_TOKEN_BYTES)


@contextmanager
def report_progress(report: Callable[[float], None]) -> Iterator[None]:
    """Report the progress of this thread's computations inside the ``with``, as a share of 1."""
    token = _listener.set(report)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(share: float) -> None:
    """Say how far the present computation is, if anybody listens."""
    if listener := _listener.get():
        listener(share)
