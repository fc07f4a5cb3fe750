"""Values in the session state that are not in the link, and values of widgets that are no parameters."""

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, cast

import streamlit as st

T = TypeVar("T")

REQUIRED: Final[Any] = object()


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
        if self.default is REQUIRED:
            return cast(T, st.session_state[self.name])
        return cast(T, st.session_state.get(self.name, self.default))

    def set(self, value: T) -> None:
        """Set the value. If it is a widget's, call this in a callback or before the widget is drawn."""
        st.session_state[self.name] = value

    def take(self) -> T:
        """Return the value and reset it."""
        value = self.read()
        self.forget()
        return value

    def forget(self) -> None:
        """Reset to the default."""
        st.session_state.pop(self.name, None)

    def exists(self) -> bool:
        """Return True if a value is set."""
        return self.name in st.session_state
