"""Private classes of Streamlit's that work around its bugs; the app runs without them where they are missing.

``HEADLIGHT_PRIVATE=0`` disables them all, to test a version of Streamlit without these names.
"""

import os
from importlib import import_module
from operator import attrgetter
from typing import Any

SWITCH = "HEADLIGHT_PRIVATE"


def find(place: str) -> Any:
    """Return a private class or attribute, as in "streamlit.runtime:Runtime.exists"; None if it is missing."""
    if os.environ.get(SWITCH) == "0":
        return None
    module, name = place.split(":")
    try:
        return attrgetter(name)(import_module(module))
    except (ImportError, AttributeError):
        return None
