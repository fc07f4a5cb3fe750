"""The session state as a run reads it, and its values that are not in the link.

In a run nobody but this module changes a value that is there: the browser's come before the run, and its callbacks. So
the state is read once, for each of Streamlit's own reads locks it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, cast

import streamlit as st

T = TypeVar("T")

REQUIRED: Final[Any] = object()
VALUES: Final[ContextVar[dict[str, Any] | None]] = ContextVar("values", default=None)
"""The session state as this run has read it; None outside a run."""


@contextmanager
def read_once() -> Iterator[None]:
    """Read the session state once for the ``with``, a whole run."""
    token = VALUES.set(st.session_state.to_dict())
    try:
        yield
    finally:
        VALUES.reset(token)


@dataclass(frozen=True, slots=True)
class Remembered(Generic[T]):
    """A typed key of the session state, declared once by the module that owns it.

    A family of values, such as one for each computation, is a function that returns one of these by its key.

    Args:
        name: its key in Streamlit's session state, and the key of its widget if it has one. It begins with an
            underscore, unlike a parameter's.
        default: the value before one is set. All sessions share it, so it has to be immutable. Without a default,
            reading the value before it is set raises KeyError.

    Raises:
        ValueError: if the name could be a parameter's.
        TypeError: if the default is mutable.
    """

    name: str
    default: T = REQUIRED

    def __post_init__(self) -> None:
        if not self.name.startswith("_"):
            raise ValueError(f"{self.name!r} could be a parameter: begin it with an underscore")
        hash(self.default)

    def read(self) -> T:
        """Return the session's value."""
        values = VALUES.get() or {}
        value = values[self.name] if self.name in values else st.session_state.get(self.name, self.default)
        if value is REQUIRED:
            raise KeyError(self.name)
        return cast(T, value)

    def set(self, value: T) -> None:
        """Set the value. If it is a widget's, call this in a callback or before the widget is drawn."""
        st.session_state[self.name] = value
        if (values := VALUES.get()) is not None:
            values[self.name] = value

    def take(self) -> T:
        """Return the value and reset it."""
        value = self.read()
        self.forget()
        return value

    def forget(self) -> None:
        """Reset to the default."""
        st.session_state.pop(self.name, None)
        (VALUES.get() or {}).pop(self.name, None)

    def exists(self) -> bool:
        """Return True if a value is set."""
        return self.name in (VALUES.get() or {}) or self.name in st.session_state
