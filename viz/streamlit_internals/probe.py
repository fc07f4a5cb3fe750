"""Sessions that the server opens itself, to see that its users are answered.

They begin behind the socket: what the server is called, where it listens and whom it admits are of no concern to them.
"""

import asyncio

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import SessionClient

ANSWER_SECONDS = 3.0
"""For a message through the runtime's loop; what asks for the server's health waits for 4 to 5 (deploy/)."""
PAGE_SECONDS = 60.0


class _Browser(SessionClient):
    """The browser of such a session: it keeps what it is sent until that is read."""

    def __init__(self) -> None:
        self.messages = asyncio.Queue[ForwardMsg]()

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        self.messages.put_nowait(msg)


def loop_has_ended() -> bool:
    """Return whether the loop that sends all users their messages is over."""
    end = Runtime.instance().stopped if Runtime.exists() else None
    return isinstance(end, asyncio.Future) and end.done()


class Pulse:
    """A session without a page, by which the runtime's loop is asked to send a message."""

    def __init__(self) -> None:
        self._browser, self._session = _Browser(), ""
        self._answer: asyncio.Future[bool] | None = None

    async def answers(self) -> bool:
        """Return whether the loop that sends all users their messages sends one in time.

        All who ask meanwhile get the same answer: many of them take no more of the server than one.
        """
        if self._answer is None or self._answer.done():
            self._answer = asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._answer)

    async def _ask(self) -> bool:
        if not Runtime.exists() or loop_has_ended():
            return False
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._send_and_take(Runtime.instance())
        except Exception:  # too late, or it is stopping
            return False
        return True

    async def _send_and_take(self, runtime: Runtime) -> None:
        if not runtime.is_active_session(self._session):
            self._session = runtime.connect_session(self._browser, user_info={})
        while not self._browser.messages.empty():
            self._browser.messages.get_nowait()
        runtime.handle_backmsg(self._session, BackMsg(set_run_on_save=False))  # it answers with the session's status
        await self._browser.messages.get()


async def draws_page() -> bool:
    """Return whether a new user's first page is drawn: the script ends well, with a title and no error."""
    runtime, browser = Runtime.instance(), _Browser()
    session = runtime.connect_session(browser, user_info={})
    try:
        state = ClientState()
        state.context_info.locale, state.context_info.timezone = "en-US", "UTC"
        runtime.handle_backmsg(session, BackMsg(rerun_script=state))
        async with asyncio.timeout(PAGE_SECONDS):
            return await _shows_title(browser.messages)
    finally:
        runtime.close_session(session)


async def _shows_title(messages: asyncio.Queue[ForwardMsg]) -> bool:
    has_title = has_error = False
    while True:
        message = await messages.get()
        element = message.delta.new_element
        has_title = has_title or element.heading.tag == "h1"
        has_error = has_error or _is_error(element)
        is_end = message.WhichOneof("type") == "script_finished"
        if is_end and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and has_title and not has_error


def _is_error(element: Element) -> bool:
    return element.HasField("exception") or element.alert.format == Alert.ERROR
