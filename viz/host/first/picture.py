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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from logging import INFO, getLogger
from typing import Any

from viz.components import bundle
from viz.components.mount import PACKAGE
from viz.frame.sidebar import path_of
from viz.host.first.markup import markup
from viz.scheduler.job import where
from viz.streamlit_internals.told import Drawn, PageLink, drawn, page_links
from viz.streamlit_internals.unseen import unseen_script
from viz.text import LANGUAGES

VIEWS = "_stcore/bidi-components/"
LATER = 5.0
"""Seconds after the first visitor for whom no picture was made: by then all that it needs is kept, or on its way."""

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


def picture_of(page: Sequence[Drawn], links: Sequence[PageLink], views: Iterable[str], lang: str) -> FirstPicture:
    """The picture of a page: these views, what stands above the last of them, and links to all pages.

    Raises:
        LookupError: if the page does not draw one of the views.
    """
    wanted = {f"{PACKAGE}.{view.rpartition('/')[2]}" for view in views}
    found = [view for view in _views(page) if view.says["name"] in wanted]
    if missing := wanted - {view.says["name"] for view in found}:
        raise LookupError(f"the page does not draw {', '.join(sorted(missing))}")
    parts = [_part(view) for view in found]
    script = bundle.joined(bundle.CLIENT / "frame" / "first.js") + f"first({json.dumps(parts)});\n"
    digest = hashlib.blake2b(script.encode(), digest_size=8).hexdigest()
    return FirstPicture(
        markup=markup(_down_to(page, found[-1]), links, lang),
        address=f"{PACKAGE}.first/first-{digest}.js",
        script=script.encode(),
        needs=tuple(dict.fromkeys(f"./{part['address']}" for part in parts)),
    )


def _views(page: Iterable[Drawn]) -> Iterator[Drawn]:
    for part in page:
        yield from [part] if part.kind == "bidi_component" else _views(part.inside)


def _down_to(page: Sequence[Drawn], last: Drawn) -> list[Drawn]:
    """What stands above a view and with it, and nothing below."""
    for at, part in enumerate(page):
        if part is last:
            return [*page[: at + 1]]
        if any(view is last for view in _views(part.inside)):
            return [*page[:at], replace(part, inside=tuple(_down_to(part.inside, last)))]
    return []


def _part(view: Drawn) -> dict[str, Any]:
    data = view.says["data"]
    is_bytes = isinstance(data, bytes)
    return {
        "place": view.key,
        "address": f"{VIEWS}{view.says['name']}/{view.says['file']}",
        "data": None if is_bytes else data,
        "bytes": base64.b64encode(data).decode() if is_bytes else "",
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

    def make_all(self, name: str) -> None:
        """Make the picture of a page in every language."""
        for lang in LANGUAGES:
            self.make(name, lang)

    def make(self, name: str, lang: str) -> None:
        """Make a picture. What goes wrong then is said to whoever opens the page; it opens without a picture before."""
        path = "" if name == next(iter(self.views)) else path_of(name)
        self.made[name, lang] = None
        try:
            told = unseen_script(path, f"lang={lang}")
            self.made[name, lang] = picture_of(drawn(told), page_links(told), self.views[name], lang)
        except Exception as error:
            _log.log(INFO, "no first picture of %s: %s", name, where(error))
