"""Values that a session keeps from run to run and its link does not hold, or of widgets that are no parameters."""

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, cast

import streamlit as st

T = TypeVar("T")

REQUIRED: Final[Any] = object()


@dataclass(frozen=True, slots=True)
class Remembered(Generic[T]):
    """A value of the session, declared once by the module that owns it.

    A family of values, such as those of several computations, is a function that returns one of these by its key.

    Args:
        name: its key in Streamlit's session state, and the key of its widget if it has one. It begins with an
            underscore, which no parameter does.
        default: the value before one is set. All sessions share it, so it has to be immutable. Without one, reading
            the value before it is set raises KeyError.

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
        """Set the value; of a widget, in a callback or before the widget is drawn."""
        st.session_state[self.name] = value

    def take(self) -> T:
        """Return the value and forget it."""
        value = self.read()
        self.forget()
        return value

    def forget(self) -> None:
        """Go back to the default."""
        st.session_state.pop(self.name, None)

    def exists(self) -> bool:
        """Return whether a value is set."""
        return self.name in st.session_state
