"""Private classes of Streamlit's that mend one of its faults, and that the app does without where they are not there.

``HEADLIGHT_PRIVATE=0`` leaves them all out, as a version of Streamlit would in which each has another name.
"""

import os
from importlib import import_module
from operator import attrgetter
from typing import Any

SWITCH = "HEADLIGHT_PRIVATE"


def find(place: str) -> Any:
    """Return a private class or attribute, as in "streamlit.runtime:Runtime.exists"; None where it is not there."""
    if os.environ.get(SWITCH) == "0":
        return None
    module, name = place.split(":")
    try:
        return attrgetter(name)(import_module(module))
    except (ImportError, AttributeError):
        return None
