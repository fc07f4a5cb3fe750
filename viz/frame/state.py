"""Parameters by their names, for what is not converted to :mod:`viz.params` yet."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from viz.params import Choice, Flag, Int, Ints, Parameter, Real, Scope, Text, TokenIndex
from viz.params.link import asked, begin, chosen, end, hold, keep, link, preset, presets, refused
from viz.params.session import of_session

__all__ = ["asked", "begin", "chosen", "end", "hold", "keep", "link", "preset", "presets", "refused"]

T = TypeVar("T")


def is_of_before(name: str) -> bool:
    """Return whether a value is older than the last Back or Forward."""
    return of_session().is_of_before(name)


def is_chosen(name: str) -> bool:
    """Return whether a parameter was chosen."""
    return of_session().is_chosen(name)


def is_known(name: str) -> bool:
    """Return whether there is a value, or one is asked for."""
    return of_session().is_known(name)


def is_moved() -> bool:
    """Return whether this is the first run of a page."""
    return of_session().is_moved


def param(name: str, default: T, parse: Callable[[str], T], ok: Callable[[T], bool]) -> T:
    """Read a parameter."""
    return Parameter(name, default, parse=parse, allows=ok).read()


def belong_to(of: Any, *names: str) -> None:
    """Forget what was chosen elsewhere."""
    for name in names:
        Parameter[Any](name, scope=Scope(of, keeps=False)).enter()


def whole(name: str, default: int, low: int, high: int) -> int:
    """Read a whole number."""
    return Int(name, default, low=low, high=high).read()


def real(name: str, default: float, low: float, high: float) -> float:
    """Read a number."""
    return Real(name, default, low=low, high=high).read()


def choice(name: str, default: str, options: Sequence[str]) -> str:
    """Read a code."""
    return Choice(name, default, among=options).read()


def pick(name: str, default: int, options: Sequence[int]) -> int:
    """Read one of a few whole numbers."""
    return Int(name, default, among=options).read()


def flag(name: str, default: bool = False) -> bool:
    """Read a flag."""
    return Flag(name, default).read()


def numbers(name: str, low: int, high: int, default: Sequence[int] = ()) -> list[int]:
    """Read some whole numbers."""
    return Ints(name, default, low=low, high=high).read()


def text(name: str, default: str, longest: int) -> str:
    """Read a text."""
    return Text(name, default, longest=longest).read()


def put(name: str, value: Any) -> None:
    """Set a parameter."""
    Parameter[Any](name).set(value)


def choose(name: str, value: Any) -> None:
    """Set a parameter, and have it count as chosen."""
    Parameter[Any](name).choose(value)


def forget(name: str) -> None:
    """Have nothing chosen."""
    Parameter[Any](name).forget()


def leave_out(name: str, usual: Any) -> None:
    """Have another value than the default left out of the link."""
    Parameter[Any](name).leave_out(usual)


def follow(name: str, words: tuple[str, ...], *, locked_at_first: bool = True) -> None:
    """Have a token's place follow its word."""
    TokenIndex(name).follow(words, locked_at_first=locked_at_first)
