"""A browser's tab without the browser: it speaks Streamlit's protocol over a real socket.

What the browser of Streamlit 1.67 sends was written down from its own frames: the subprotocols ``streamlit`` and the
XSRF cookie's value; with every change the value of every widget on the page, the address bar, the page's hash and the
hashes of the large messages it still has, in place of which the server sends a reference.
"""

import asyncio
import http.client
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlencode, urlparse

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.load.controls import Control, Value, read, write
from tests import SAFETY_NET

LARGEST = 64 * 2**20
"""Bytes of one message; the server sends at most 50 MB."""
KEPT_RUNS = 2
"""Runs for which a browser keeps a large message it was sent (global.maxCachedMessageAge)."""


@dataclass
class Answer:
    """The answer to one change: the time of its end, and the elements on the page."""

    seconds: float = 0.0
    messages: int = 0
    bytes: int = 0
    titles: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    """Texts of error boxes."""


Place = tuple[int, ...]


@dataclass(frozen=True)
class ElementState:
    """The state of an element of the page as far as a user needs it: a control, a title, an error."""

    control: Control | None = None
    title: str = ""
    exception: str = ""
    box: str = ""


XSRF = "_streamlit_xsrf"


def cookies_of(url: str) -> dict[str, str]:
    """Fetch the cookies that a browser gets before it opens its socket."""
    parts = urlparse(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SAFETY_NET)
    try:
        connection.request("GET", "/_stcore/health")
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise ConnectionRefusedError(f"the server said {answer.status}")
        cookies = (header.partition(";")[0].partition("=") for header in answer.headers.get_all("set-cookie") or ())
        return {name: value for name, _, value in cookies}
    finally:
        connection.close()


def said_of(cookies: dict[str, str]) -> str:
    """As a browser says them."""
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def is_in(place: Place, block: Place) -> bool:
    """Return True if an element stands in this block."""
    return place[: len(block)] == block


class Tab:
    """One user's tab: ``async with Tab(url) as tab: await tab.open("positions", text="a b")``.

    Args:
        url: of the server, on this machine.
        patience: seconds to wait for one answer.
    """

    def __init__(self, url: str, patience: float = 75.0) -> None:
        self.url, self.patience = url, patience
        self.controls: dict[str, Control] = {}
        self.pages: dict[str, str] = {}
        self.page, self.query, self.session = "", "", ""
        self.cookies: dict[str, str] = {}
        self._socket: ClientConnection | None = None
        self._values: dict[str, Value] = {}
        self._elements: dict[Place, ElementState] = {}
        self._redrawn: set[Place] = set()
        self._popovers: set[Place] = set()
        self._open_popovers: set[Place] = set()
        """Of the popovers; a page does not draw what is in the others, and reports none of it."""
        self._is_part = False
        self._roots: list[Place] = []
        """Of a fragment's run: the fragment's own place, and those that it fills elsewhere."""
        self._cache: dict[str, tuple[int, ElementState]] = {}
        self._run = 0

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self, session: str = "", **headers: str) -> None:
        """Open the socket; to go on in a session, if it is still there."""
        self.cookies = self.cookies or await asyncio.to_thread(cookies_of, self.url)
        token = self.cookies.get(XSRF, "none")
        self._socket = await connect(
            self.url.replace("http", "ws", 1) + "/_stcore/stream",
            origin=self.url,  # type: ignore[arg-type]
            subprotocols=[Subprotocol(part) for part in ("streamlit", token, session) if part],
            additional_headers={"Cookie": said_of(self.cookies), **headers},
            max_size=LARGEST, compression=None, ping_interval=None, open_timeout=self.patience, proxy=None,
        )  # fmt: skip

    async def close(self) -> None:
        """Close the socket, as a tab that is closed does."""
        if self._socket is not None:
            await self._socket.close()

    async def vanish(self) -> None:
        """Be gone without a word, as a laptop that is shut."""
        assert self._socket is not None
        self._socket.transport.abort()

    async def open(self, path: str = "heads", **link: object) -> Answer:
        """Follow a link, to Heads if no page is named: the first message of a tab."""
        self.page, self.query = path, urlencode(link)
        return await self.ask(ClientState(query_string=self.query, page_name=path))

    async def change(self, **values: Value) -> Answer:
        """Set some controls, by their keys; a component is given its state."""
        for key, value in values.items():
            self.choose(self.controls[key], value)
        fragments = {self.controls[key].fragment for key in values}
        fragment = fragments.pop() if len(fragments) == 1 else ""
        return await self.ask(self._state(self.pages.get(self.page, ""), fragment))

    async def go(self, path: str) -> Answer:
        """Choose another page in the sidebar; what stands on the present page only is forgotten."""
        self.page = path
        state = self._state(self.pages[path])
        self._open_popovers.clear()
        return await self.ask(state)

    def choose(self, control: Control, value: Value) -> None:
        """Set a control, and open what it is folded away in; nothing is sent."""
        self._values[control.id] = value
        places = [place for place, element_ in self._elements.items() if element_.control == control]
        self._open_popovers |= {popover for popover in self._popovers for place in places if is_in(place, popover)}

    def value(self, key: str) -> Value:
        """The value of a control."""
        return self._values[self.controls[key].id]

    def _state(self, page: str, fragment: str = "") -> ClientState:
        state = ClientState(query_string=self.query, page_script_hash=page, fragment_id=fragment)
        closed_popovers = self._popovers - self._open_popovers
        for place, control in (
            (place, element_.control) for place, element_ in self._elements.items() if element_.control
        ):
            value = self._values[control.id]
            is_there = not any(is_in(place, popover) for popover in closed_popovers)
            if is_there and (value is not None or control.kind != "component"):
                write(control, value, state.widget_states.widgets.add())
        state.cached_message_hashes.extend(self._cache)
        return state

    async def ask(self, state: ClientState) -> Answer:
        """Ask for a run."""
        state.context_info.url = f"{self.url}/{self.page}"
        state.context_info.locale, state.context_info.timezone = "en-US", "UTC"
        began, answer = time.perf_counter(), Answer()
        await self.say(BackMsg(rerun_script=state).SerializeToString())
        async with asyncio.timeout(self.patience):
            while not self._take(await self._hear(answer), answer):
                pass
        answer.seconds = time.perf_counter() - began
        return answer

    async def say(self, message: bytes | str) -> None:
        """Send a message of any kind."""
        assert self._socket is not None
        await self._socket.send(message)

    async def _hear(self, answer: Answer) -> ForwardMsg:
        assert self._socket is not None
        raw = await self._socket.recv()
        assert isinstance(raw, bytes)
        answer.messages, answer.bytes = answer.messages + 1, answer.bytes + len(raw)
        return ForwardMsg.FromString(raw)

    def _take(self, message: ForwardMsg, answer: Answer) -> bool:
        """Take in a message; True if it ends the run."""
        kind = message.WhichOneof("type")
        if kind == "delta":
            self._draw(message.delta, message)
        elif kind == "ref_hash":
            element_ = self._cache[message.ref_hash][1]
            self._cache[message.ref_hash] = self._run, element_
            self._show(tuple(message.metadata.delta_path), element_)
        elif kind == "new_session":
            self._begin(message)
        elif kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "page_not_found":
            answer.exceptions.append("page not found")
        elif kind == "script_finished":
            return self._end(message, answer)
        return False

    def _begin(self, message: ForwardMsg) -> None:
        self.session = message.new_session.initialize.session_id or self.session
        self._is_part = bool(message.metadata.run.fragment_ids)
        self._roots = []
        self._redrawn.clear()

    def _end(self, message: ForwardMsg, answer: Answer) -> bool:
        if message.script_finished == message.FINISHED_EARLY_FOR_RERUN:
            return False
        if message.script_finished == message.FINISHED_WITH_COMPILE_ERROR:
            answer.exceptions.append("compile error")
        roots = self._roots if self._is_part else [()]  # elements around a fragment stay
        self._elements = {
            place: element_
            for place, element_ in self._elements.items()
            if place in self._redrawn or not any(is_in(place, root) for root in roots)
        }
        for element_ in self._elements.values():
            answer.titles += [element_.title] * bool(element_.title)
            answer.exceptions += [element_.exception] * bool(element_.exception)
            answer.boxes += [element_.box] * bool(element_.box)
        self.controls = {
            element_.control.key: element_.control for element_ in self._elements.values() if element_.control
        }
        ids = {control.id for control in self.controls.values()}
        self._values = {key: value for key, value in self._values.items() if key in ids}
        if not self._is_part:
            self._cache = {key: entry for key, entry in self._cache.items() if self._run - entry[0] < KEPT_RUNS}
        self._run += 1
        return True

    def _draw(self, delta: Delta, message: ForwardMsg) -> None:
        place = tuple(message.metadata.delta_path)
        if not any(is_in(place, root) for root in self._roots):
            self._roots.append(place)
        if delta.HasField("add_block"):
            (self._popovers.add if delta.add_block.HasField("popover") else self._popovers.discard)(place)
        if delta.WhichOneof("type") != "new_element":
            return
        element = delta.new_element
        kind = element.WhichOneof("type")
        exception = f"{element.exception.type}: {element.exception.message}" if kind == "exception" else ""
        is_error = kind == "alert" and element.alert.format == Alert.ERROR
        element_ = ElementState(
            control=read(element, delta.fragment_id),
            title=element.heading.body if kind == "heading" and element.heading.tag == "h1" else "",
            exception=exception,
            box=element.alert.body if is_error else "",
        )
        if message.metadata.cacheable:
            self._cache[message.hash] = self._run, element_
        self._show(place, element_)

    def _show(self, place: Place, element_: ElementState) -> None:
        """Put an element on the page; a control keeps what it stood at, unless the server says otherwise."""
        self._redrawn.add(place)
        self._elements = {
            other_place: other_element
            for other_place, other_element in self._elements.items()
            if other_place[: len(place)] != place
        }
        self._elements[place] = element_
        control = element_.control
        if control is not None and (control.forced or control.id not in self._values):
            self._values[control.id] = control.value
