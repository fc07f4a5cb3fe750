"""slow_app.py, where one session after the other can be made to fail in a place between Streamlit and its browser."""

import asyncio
import os
from collections.abc import Callable
from inspect import getcoroutinelocals, iscoroutine
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from pages.start import page
from tests.host.slow_app import ROOT, readiness, sockets
from viz.host import errors
from viz.host import readiness as readiness_module
from viz.host.guard import Guard
from viz.streamlit_internals import last_run, less_work, together, writes

SECRET = "xylophone"
READS_VALUES, TIDIES = set[str](), set[str]()
"""The sessions that fail in their script's thread."""


def fail(*_: Any, **__: Any) -> Any:
    raise KeyError(SECRET)


class Broken:
    """Stands in the place of another object; one of its methods fails, once."""

    def __init__(self, whole: Any, method: str = "") -> None:
        self.whole, self.method = whole, method

    def __getattr__(self, name: str) -> Any:
        if name != self.method:
            return getattr(self.whole, name)
        self.method = ""
        return fail

    def __eq__(self, other: object) -> bool:
        return self.whole is other

    def __hash__(self) -> int:
        return hash(self.whole)


class Runners(type):
    """The kind of a class that fails to tell whose runner is asked about."""

    def __instancecheck__(cls, runner: Any) -> bool:
        return fail() if runner._session_id in TIDIES else isinstance(runner, ScriptRunner)


class Runner(metaclass=Runners):
    pass


def write_together(loop: Any) -> None:
    if isinstance(loop, Broken):
        fail()
    write(loop)


def read_value(state: Any, name: Any) -> Any:
    context = get_script_run_ctx()
    if context and context.session_id in READS_VALUES:
        raise ValueError(SECRET)
    return read(state, name)


def connection(port: int) -> Any:
    """The transport of the browser that connects from this port."""
    for task in asyncio.all_tasks():
        coroutine = task.get_coro()
        transport = (
            getattr(getcoroutinelocals(coroutine).get("self"), "transport", None) if iscoroutine(coroutine) else None
        )
        if isinstance(transport, writes.OneWrite) and transport.get_extra_info("peername")[1] == port:
            return transport
    raise LookupError(port)


def break_session(place: str, session: AppSession, port: int) -> None:
    if place in ("to_send", "note_request"):
        setattr(session.__dict__["_headlight_held"][1], place, fail)
    elif place == "enqueue":
        session._event_loop = Broken(session._event_loop, "call_later")  # type: ignore[assignment]
    elif place == "flush":
        session._event_loop = Broken(session._event_loop)  # type: ignore[assignment]
        del session.__dict__["_headlight_to"]
    elif place == "write":
        transport = connection(port)
        transport._loop = Broken(transport._loop, "call_soon")
    elif place == "join":
        transport = connection(port)
        transport._transport = Broken(transport._transport, "write")
    elif place == "tidy":
        TIDIES.add(session.id)
    elif place == "read":
        READS_VALUES.add(session.id)
    else:
        session.flush_browser_queue = fail  # type: ignore[method-assign]


async def broken(request: Request) -> PlainTextResponse:
    """Have a session fail from now on."""
    session = Runtime.instance().get_app_session(request.path_params["session"])
    assert session is not None
    break_session(request.path_params["place"], session, request.path_params["port"])
    return PlainTextResponse("broken")


def draw() -> None:
    """The first page, which fails until a file is there that the environment names."""
    if (go := os.environ.get("NO_PAGE_UNTIL")) and not Path(go).exists():
        fail()
    draw_first()


draw_first = page.PAGE.draw
page.PAGE.draw = draw  # type: ignore[method-assign]
readiness_module.PAGE_AGAIN = 0.2
write = writes.write_together
together.write_together = write_together  # type: ignore[attr-defined]
read: Callable[[Any, Any], Any] = less_work._value
less_work._value = read_value
last_run.ScriptRunner = Runner  # type: ignore[assignment, attr-defined]
app = st.App(
    f"{ROOT}app.py",
    lifespan=readiness.lifespan,
    routes=[*readiness.routes, Route("/break/{place}/{session}/{port:int}", broken)],
    on_script_error=errors.say,
    middleware=[Middleware(Guard, sockets=sockets, readiness=readiness)],
)
