"""The address bar, where Streamlit would make an entry of the browser's history too many."""

import time
from collections.abc import Mapping
from urllib.parse import urlencode

from viz.components.mount import mount
from viz.streamlit_internals import note_address, page_path


def replace(link: Mapping[str, str]) -> None:
    """Put a link into the address bar in place of the one that is there, for a run that opened a page or came back.

    Streamlit has made an entry of an opened page without its link, and would make another one of it with the link;
    between the two Back would lead to a page at its defaults that nobody saw.
    """
    data = {"link": urlencode(link), "page": page_path(), "run": time.time_ns()}
    mount("frame/address", key="address", data=data)
    note_address(link)
