"""Mistakes put into a function on purpose, for tests that expect a live check to notice."""

import inspect
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import pytest

Wrong = Callable[..., Any]
"""A faulty replacement of a function: called with the right function, then with the arguments."""


def put_in(monkeypatch: pytest.MonkeyPatch, function: Any, wrong: Wrong) -> None:
    """Have every caller of ``function`` get ``wrong(right, ...)``, by whatever name it knows the function.

    ``from module import function`` gives a module a name of its own, which stays when the function's module is patched;
    a table of functions, a ``partial`` or a default value likewise. They all hold the same function object. So it is
    the object that is changed: its code is exchanged for a call of ``wrong``, and ``right`` is a copy that has the old
    code. A function that closes over another one's variables cannot be changed like this.
    """
    inner = inspect.unwrap(function)
    right = FunctionType(inner.__code__, inner.__globals__, inner.__name__, inner.__defaults__)
    right.__kwdefaults__ = inner.__kwdefaults__
    name = f"_instead_of_{inner.__qualname__}"
    call: dict[str, Any] = {}
    exec(f"def call(*args, **options): return globals()[{name!r}](*args, **options)", call)
    monkeypatch.setitem(inner.__globals__, name, partial(wrong, right))
    monkeypatch.setattr(inner, "__defaults__", None)
    monkeypatch.setattr(inner, "__kwdefaults__", None)
    monkeypatch.setattr(inner, "__code__", call["call"].__code__)


class FaultError(Exception):
    """An error that no code expects."""


class Fault:
    """An error that a function raises at its next call, once."""

    SECRET = "what a user typed"

    def __init__(self, owner: Any, name: str, put: Callable[[Any, str, Any], object] = setattr) -> None:
        self.is_raised, self.right = False, getattr(owner, name)
        put(owner, name, self._faulty())

    def _faulty(self) -> Callable[..., Any]:
        """Return a function, which a class binds as a method."""

        def call(*args: Any, **options: Any) -> Any:
            if not self.is_raised:
                self.is_raised = True
                raise FaultError(self.SECRET)
            return self.right(*args, **options)

        return call
