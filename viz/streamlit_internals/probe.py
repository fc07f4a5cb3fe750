"""Sessions that the server opens itself as a health check.

They bypass the socket, so host names, addresses and limits do not apply to them.
"""

import asyncio

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import SessionClient

ANSWER_SECONDS = 3.0
"""Seconds for a message through the runtime's loop; health checks wait for 4 to 5 (deploy/)."""
PAGE_SECONDS = 60.0


class _Browser(SessionClient):
    """The browser of such a session, with a queue of its messages."""

    def __init__(self) -> None:
        self.messages = asyncio.Queue[ForwardMsg]()

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        self.messages.put_nowait(msg)


def loop_has_ended() -> bool:
    """Return whether the runtime's loop, which sends all messages, has ended."""
    end = Runtime.instance().stopped if Runtime.exists() else None
    return isinstance(end, asyncio.Future) and end.done()


class Pulse:
    """A session without a page, to check that the runtime's loop sends messages."""

    def __init__(self) -> None:
        self._browser, self._session = _Browser(), ""
        self._answer: asyncio.Future[bool] | None = None

    async def answers(self) -> bool:
        """Return whether the runtime's loop sends a message in time.

        Concurrent calls share one check.
        """
        if self._answer is None or self._answer.done():
            self._answer = asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._answer)

    async def _ask(self) -> bool:
        if not Runtime.exists() or loop_has_ended():
            return False
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._request_message(Runtime.instance())
        except Exception:
            # It is too late, or the server is stopping.
            return False
        return True

    async def _request_message(self, runtime: Runtime) -> None:
        if not runtime.is_active_session(self._session):
            self._session = runtime.connect_session(self._browser, user_info={})
        while not self._browser.messages.empty():
            self._browser.messages.get_nowait()
        # The answer is the session's status.
        runtime.handle_backmsg(self._session, BackMsg(set_run_on_save=False))
        await self._browser.messages.get()


async def draws_page() -> bool:
    """Return whether a new user's first page renders: the script succeeds, with a title and no error."""
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
        has_error = has_error or element.HasField("exception") or element.alert.format == Alert.ERROR
        is_end = message.WhichOneof("type") == "script_finished"
        if is_end and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and has_title and not has_error
