"""A value that the server sends and a message that still holds the one before may cross on their way.

The page is then drawn with the browser's value, and the control shows the server's as soon as that has come. So the
value that the page was drawn with is sent once more. Otherwise it is not: it would replace what is being typed.
"""

from typing import TypeVar

import streamlit as st

from viz.frame.connection.parameters import of_session

T = TypeVar("T")

REMEMBERED = 4
"""Values of a parameter that the browser may still hold."""


def set_value(name: str, value: T) -> T:
    """Set a parameter, and remember what the browser may still hold."""
    earlier = of_session().set_values.setdefault(name, [])
    if name in st.session_state:
        earlier.append(st.session_state[name])
    earlier.append(value)
    del earlier[:-REMEMBERED]
    st.session_state[name] = value
    return value


def has_crossed(name: str) -> bool:
    """Return whether the browser has sent an earlier value than the one that it is sent; asked once in a run.

    When it has sent that one, or one that is new, it no longer holds those before.
    """
    known, value = of_session().set_values, st.session_state[name]
    if not (values := known.get(name)) or value == values[-1]:
        return False
    if value in values:
        return True
    del known[name]
    return False
