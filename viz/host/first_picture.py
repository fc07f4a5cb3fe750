"""A page's first picture, in the page that a browser is sent first: seen before Streamlit's own code has come.

Streamlit's page is empty until a megabyte of code has come and run, a socket is open and the script has answered. What
the script answers to whoever comes without a link is known before: so the words above the picture are written into the
page, and the picture is drawn by the code and from the numbers with which the page draws it
(``client/frame/first.js``). When the page's own stands, all of this goes.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from logging import INFO, getLogger
from typing import Any

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from viz.components import bundle
from viz.components.mount import PACKAGE
from viz.frame.sidebar import path_of
from viz.host.first_markup import Place, markup_of
from viz.scheduler.job import where
from viz.streamlit_internals import key_of
from viz.streamlit_internals.unseen import unseen_script

VIEWS = "_stcore/bidi-components/"
MAIN = 0
"""Of the page's parts: the one beside the sidebar."""
LATER = 20.0
"""Seconds after the first visitor for whom no picture was made: by then all that it needs is kept."""

_log = getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class FirstPicture:
    """What stands in the page, and the script that draws in it: its address below that of all views, and what it is.

    ``needs`` are the addresses of the views it draws with.
    """

    markup: str
    address: str
    script: bytes
    needs: tuple[str, ...]


def picture_of(told: Sequence[ForwardMsg], views: Iterable[str], lang: str) -> FirstPicture:
    """The picture in what a browser would be sent: these views, what stands above the last of them, and all pages.

    Raises:
        LookupError: if one of the views is not there.
    """
    places = [Place(tuple(message.metadata.delta_path), message.delta) for message in told if _is_drawn(message)]
    wanted = {f"{PACKAGE}.{view.rpartition('/')[2]}" for view in views}
    drawn = [at for at, place in enumerate(places) if place.delta.new_element.bidi_component.component_name in wanted]
    elements = [places[at].delta.new_element for at in drawn]
    if missing := wanted - {element.bidi_component.component_name for element in elements}:
        raise LookupError(f"the page does not draw {', '.join(sorted(missing))}")
    pages = next(message.navigation for message in told if message.HasField("navigation"))
    parts = [_part(element) for element in elements]
    script = bundle.joined(bundle.CLIENT / "frame" / "first.js") + f"first({json.dumps(parts)});\n"
    digest = hashlib.blake2b(script.encode(), digest_size=8).hexdigest()
    return FirstPicture(
        markup=markup_of(places[: drawn[-1] + 1], (MAIN,), pages, lang),
        address=f"{PACKAGE}.first/first-{digest}.js",
        script=script.encode(),
        needs=tuple(dict.fromkeys(f"./{part['address']}" for part in parts)),
    )


def _is_drawn(message: ForwardMsg) -> bool:
    return message.WhichOneof("type") == "delta" and message.metadata.delta_path[0] == MAIN


def _part(element: Element) -> dict[str, Any]:
    view = element.bidi_component
    is_bytes = view.WhichOneof("data") == "bytes"
    return {
        "place": key_of(view.id),
        "address": f"{VIEWS}{view.component_name}/{view.js_source_path}",
        "data": None if is_bytes else json.loads(view.json),
        "bytes": base64.b64encode(view.bytes).decode() if is_bytes else "",
    }


class FirstPictures:
    """The first pictures that have been made, by page and language.

    Args:
        views: what each page's picture is made of, as in "start/arcs", by the page's name; the one at ``/`` first.
    """

    def __init__(self, views: Mapping[str, tuple[str, ...]]) -> None:
        self.views = views
        self.made: dict[tuple[str, str], FirstPicture | None] = {}

    def of(self, name: str, lang: str) -> FirstPicture | None:
        """The picture of a page, if there is one; if nobody has asked before, there is one for those who come later."""
        if name in self.views and (name, lang) not in self.made:
            self.made[name, lang] = None
            later = threading.Timer(LATER, self.make, (name, lang))
            later.daemon = True
            later.start()
        return self.made.get((name, lang))

    def make(self, name: str, lang: str) -> None:
        """Make a picture. What goes wrong then is said to whoever opens the page; it opens without a picture before."""
        path = "" if name == next(iter(self.views)) else path_of(name)
        self.made[name, lang] = None
        try:
            self.made[name, lang] = picture_of(unseen_script(path, f"lang={lang}"), self.views[name], lang)
        except Exception as error:
            _log.log(INFO, "no first picture of %s: %s", name, where(error))
