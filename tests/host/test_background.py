"""All that outlives a request is listed here; one error in it hurts one user at most, or the health routes say so."""

import ast
import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from urllib.parse import urlencode

import pytest
from websockets.exceptions import WebSocketException

from bench.load.tab import Tab
from tests import SAFETY_NET
from tests.browser.drive import ROOT, Server, serve
from tests.coroutines import finish
from tests.faults import FaultError
from tests.host.test_server import get, wait
from tests.test_house import SOURCES, name, nodes
from viz import background
from viz.frame.connection import loading
from viz.frame.queue_notice import make_stores
from viz.host import errors, readiness
from viz.host.sockets import Sockets
from viz.models import registry

BEGINS = (
    *("Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "Process", "Popen", "start_new_thread"),
    *("create_task", "ensure_future", "run_coroutine_threadsafe", "TaskGroup", "run_in_executor", "add_done_callback"),
    *("call_later", "call_at", "call_soon", "call_soon_threadsafe", "atexit.register", "finalize", "signal.signal"),
    *("start_thread", "Pool", "set_exception_handler", "setLogRecordFactory", "listeners.append"),
)
"""Calls that begin what may outlive a request, or hand it a function."""
HOOKS = "lifespan", "on_script_error"
"""Functions that a server calls itself. Others take the place of a class's or a module's."""

THIS_FILE, CACHE = (
    "tests/host/test_background.py::",
    "tests/scheduler/test_cache.py::test_failed_thread_loses_one_request",
)
STREAMLIT = "streamlit.runtime."
LISTED_WORK: dict[str, str | tuple[str, str]] = {
    "viz/app/make.py lifespan": THIS_FILE + "test_failed_lifespan_ends_start",
    "viz/background.py Thread": THIS_FILE + "test_failed_thread_is_logged_once",
    "viz/background.py Timer": THIS_FILE + "test_failed_thread_is_logged_once",
    "viz/frame/connection/loading.py start_thread": THIS_FILE + "test_loading_without_thread_begins_later",
    "viz/frame/fetching.py start_thread": "tests/pages/test_without_decoder.py::test_page_goes_on_after_fetch",
    "viz/host/connections/__init__.py Server.startup": THIS_FILE + "test_failed_lifespan_ends_start",
    "viz/host/connections/__init__.py call_later": THIS_FILE + "test_failed_callback_is_logged_once",
    "viz/host/desk.py call_later": THIS_FILE + "test_failed_callback_is_logged_once",
    "viz/host/desk.py lifespan": THIS_FILE + "test_failed_lifespan_ends_start",
    "viz/host/errors.py on_script_error": ("viz.host.errors", "translator"),
    "viz/host/errors.py set_exception_handler": THIS_FILE + "test_failed_callback_is_logged_once",
    "viz/host/errors.py setLogRecordFactory": ("viz.host.errors", "where"),
    "viz/host/errors.py threading.excepthook": THIS_FILE + "test_failed_callback_is_logged_once",
    "viz/host/message_filter.py ensure_future": ("viz.host.message_filter:MessageFilter", "_next"),
    "viz/host/readiness.py create_task": "tests/host/test_maintenance.py::test_health_without_maintenance_is_503",
    "viz/host/readiness.py lifespan": THIS_FILE + "test_failed_lifespan_ends_start",
    "viz/host/readiness.py signal.signal": THIS_FILE + "test_sigterm_without_thread_stops_server",
    "viz/host/readiness.py start_thread": THIS_FILE + "test_sigterm_without_thread_stops_server",
    "viz/models/registry.py start_thread": THIS_FILE + "test_failed_look_up_is_unreachable",
    "viz/modes/present/prefetch.py start_thread": (
        "tests/modes/present/test_prefetch.py::test_failed_prefetch_is_logged_without_text"
    ),
    "viz/scheduler/cache.py Pool": CACHE,
    "viz/scheduler/fair_queue.py listeners.append": ("viz.scheduler.ceiling:Ceiling", "has_room"),
    "viz/scheduler/passage.py start_thread": ("viz.scheduler.passage:Passage", "_pass"),
    "viz/streamlit_internals/hosted.py AppSession._create_new_session_message": (
        STREAMLIT + "app_session:AppSession", "_create_new_session_message"
    ),
    "viz/streamlit_internals/hosted.py AppSession.request_rerun": (
        STREAMLIT + "app_session:AppSession", "request_rerun"
    ),
    "viz/streamlit_internals/hosted.py ForwardMsgQueue.clear": THIS_FILE + "test_health_with_ended_loop_is_503",
    "viz/streamlit_internals/hosted.py MemorySessionStorage.save": (
        STREAMLIT + "memory_session_storage:MemorySessionStorage", "save"
    ),
    "viz/streamlit_internals/hosted.py WebsocketSessionManager.connect_session": (
        STREAMLIT + "websocket_session_manager:WebsocketSessionManager", "connect_session"
    ),
    "viz/streamlit_internals/probe.py ensure_future": THIS_FILE + "test_health_with_ended_loop_is_503",
    "viz/streamlit_internals/widget_values.py WStates.__getitem__": (
        STREAMLIT + "state.session_state:WStates", "__getitem__"
    ),
}  # fmt: skip
"""Work that outlives a request, by its place in the source, and the test that puts an error into it, or that error."""
FAULTS = [
    *(entry for entry in LISTED_WORK.values() if isinstance(entry, tuple)),
    ("viz.scheduler.fair_queue:FairQueue", "_admit"),
    ("viz.scheduler.fair_queue:Ticket", "start"),
    ("viz.host.maintenance", "end_lost_sessions"),
    ("viz.host.uploads:Uploads", "tidy"),
    ("viz.host.maintenance:Maintenance", "tidy"),
    ("viz.host.maintenance:Maintenance", "_round"),
]
"""Errors that are put into a server."""


def places(path: Path) -> Iterator[str]:
    """Yield the work that a file begins or hands to others for longer than a request."""
    for node in nodes(path):
        match node:
            case ast.Call(func=function):
                callee = ast.unparse(function)
                yield from (begin for begin in BEGINS if f".{callee}".endswith(f".{begin}"))
            case ast.FunctionDef(name=hook) | ast.AsyncFunctionDef(name=hook) if hook in HOOKS:
                yield hook
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner)) as target]):
                if (owner[0].isupper() and "streamlit" in path.parts[-2]) or owner in ("Server", "threading", "sys"):
                    yield ast.unparse(target)


def test_all_that_outlives_requests_has_test():
    """Threads are begun in one place; each has a test that puts an error in."""
    source_places = {f"{name(path)} {place}" for path in SOURCES for place in places(path)}
    assert source_places == LISTED_WORK.keys()
    for test in (entry for entry in LISTED_WORK.values() if isinstance(entry, str)):
        file, _, function = test.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text("utf8")


@pytest.mark.parametrize("seconds", [0, 0.01])
def test_failed_thread_is_logged_once(seconds, caplog):
    """Its error is counted, and nothing of its message is logged."""
    n_before = background.failures["a test"]
    thread = background.start_thread("a test", lambda: {}["what a user typed"], seconds)
    assert thread is not None
    thread.join(SAFETY_NET)
    (record,) = caplog.records
    assert record.getMessage().startswith("a test failed: KeyError in ") and "user" not in caplog.text
    assert background.failures["a test"] == n_before + 1


def test_failed_callback_is_logged_once(caplog, monkeypatch):
    """Of the loop, and in a thread that this program has not begun."""
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)

    def fail() -> None:
        raise FaultError("what a user typed")

    async def run() -> None:
        errors.log_uncaught()
        asyncio.get_running_loop().call_later(0, fail)
        thread = threading.Thread(target=fail)
        thread.start()
        while thread.is_alive() or len(caplog.records) < 2:
            await asyncio.sleep(0.01)

    finish(run())
    assert {record.getMessage() for record in caplog.records} == {"a callback failed", "a thread failed"}
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [FaultError, FaultError]


def test_loading_without_thread_begins_later(monkeypatch):
    """The system has no thread at the first user; the second one's page is imported ahead all the same."""
    monkeypatch.setattr(loading, "_COMPUTE", "a module that is not imported")
    monkeypatch.setattr(loading, "_threads", [])
    monkeypatch.setattr(loading, "start_thread", lambda *_: None)
    loading.begin_to_import()
    assert loading.is_wanted()
    monkeypatch.setattr(loading, "start_thread", lambda *_: threading.current_thread())
    loading.begin_to_import()
    assert not loading.is_wanted()


def test_failed_look_up_is_unreachable(monkeypatch, raise_once):
    monkeypatch.setattr("huggingface_hub.is_offline_mode", lambda: False)
    log = raise_once(registry.socket, "getaddrinfo")
    look_up = registry.Reachability("hub.example")
    if look_up._thread is not None:
        look_up._thread.join(SAFETY_NET)
    assert not look_up.reachable
    assert log() == ["look-up of a host failed: FaultError"]


@pytest.mark.parametrize("step", ["warm", "set_ceiling"])
def test_failed_warmup_is_not_ready(step, monkeypatch, raise_once):
    """A server without a model, or without a ceiling for its memory, says so; users who are there are let in."""
    monkeypatch.setattr(readiness, "warm", lambda: None)
    monkeypatch.setattr(loading, "is_asked", lambda seconds: True)
    ready = readiness.Readiness(Sockets(), stores=make_stores())
    raise_once(readiness, step)
    finish(ready._warm())
    assert ready.reasons() == ["model"] and ready.can_open.is_set()


def test_failed_lifespan_ends_start(monkeypatch):
    """A server that cannot start its threads ends, and is started again."""
    ready = readiness.Readiness(Sockets(), stores=make_stores())
    monkeypatch.setattr(readiness, "FOR_PROCESS", ())
    monkeypatch.setattr(readiness.loading, "start_cold", lambda: None)
    monkeypatch.setattr(ready, "_watch_for_the_end", lambda: None)
    monkeypatch.setattr(background.Pool, "start", lambda _: {}["no thread"])

    async def begin() -> None:
        async with ready.lifespan(None):
            pytest.fail("it has begun")

    with pytest.raises(KeyError):
        finish(begin())


def test_sigterm_without_thread_stops_server(monkeypatch):
    """The server ends what it does, though nothing will end it if it takes too long."""
    ends, ready = [], readiness.Readiness(Sockets(), stores=make_stores())
    before = signal.signal(signal.SIGTERM, lambda *_: ends.append("server"))
    monkeypatch.setattr(threading.Thread, "start", lambda _: {}["no thread"])
    try:
        ready._watch_for_the_end()
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (ends, ready.stopping, ready.stores.turns.is_closed) == (["server"], True, True)


def describe(server: Server) -> dict[str, int]:
    return json.loads(get(server, "/fault")[1])


TEXTS = (f"text number {n} of a user" for n in count())


class Servers:
    """A server, and another one where an error has ended its health: then it is restarted."""

    def __init__(self, stack: ExitStack, folders: pytest.TempPathFactory) -> None:
        self.stack, self.folders = stack, folders
        self.running: Server | None = None
        self.said_before: dict[str, tuple[int, str]] = {}
        """Its answers while its first page fails."""

    def start(self) -> Server:
        if self.running is None or get(self.running, "/healthz")[0] != 200:
            folder = self.folders.mktemp("background")
            app, go = Path(__file__).with_name("faulty_app.py"), folder / "go"
            server = serve(app, folder / "log.txt", HEADLIGHT_WAIT="10", NO_PAGE_UNTIL=str(go))
            self.running = running = self.stack.enter_context(server)
            wait(lambda: "The first page is not drawn" in running.read_log())
            self.said_before = {path: get(running, path) for path in ("/readyz", "/healthz")}
            go.touch()
        running = self.running
        wait(lambda: get(running, "/readyz")[0] == 200)
        return running


@pytest.fixture(scope="module")
def servers(tmp_path_factory) -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack, tmp_path_factory)


def test_readiness_without_page_stays_503(servers):
    """No user is sent to a server whose first page fails; it is tried again, and logged once."""
    log = servers.start().read_log()
    assert servers.said_before == {
        "/readyz": (503, '{"ready":false,"waiting_for":["page"]}'),
        "/healthz": (200, "ok"),
    }
    assert log.count("The first page is not drawn: it has no title, or shows an error") == 1


async def use_everything(server: Server) -> None:
    """Open a page, type, lose the connection, come back, and go on, as far as the error allows."""
    with suppress(TimeoutError, OSError, WebSocketException, KeyError):  # a control is not there
        async with Tab(server.url, 6) as tab:
            await tab.open("heads", text=next(TEXTS))
            await tab.change(text=f"strangely {next(TEXTS)}")
            await tab.change(text=next(TEXTS))
            session = tab.session
            await tab.vanish()
            await tab.connect(session)
            await tab.go("masks")


async def is_answered(server: Server) -> bool:
    async with Tab(server.url, 60) as tab:
        answers = [await tab.open("heads", text=next(TEXTS)), await tab.change(text=next(TEXTS))]
    return all(answer.titles and not answer.boxes + answer.exceptions for answer in answers)


@pytest.mark.parametrize(("owner", "function"), FAULTS)
def test_error_hurts_one_user(servers, owner, function):
    """The users who do not meet it are answered; it is logged once, without what it says, and counted once."""
    server = servers.start()
    n_before, since = describe(server)["failures"], len(server.read_log())
    assert get(server, f"/put?{urlencode({'owner': owner, 'name': function})}") == (200, "put")

    for _ in range(5):
        get(server, "/readyz")
        finish(use_everything(server))
        if describe(server)["is_raised"]:
            break
    if get(server, "/healthz")[0] == 200:
        assert finish(is_answered(server))
    assert describe(server)["is_raised"]
    log = server.read_log(since)
    n_expected = 1 + log.count("Uncaught app execution: KeyError")
    assert (log.count("FaultError in "), describe(server)["failures"] - n_before) == (1, n_expected), log
    assert "what a user typed" not in log and "Traceback" not in log


def test_health_with_ended_loop_is_503(servers):
    """An error as messages are taken from one session's queue ends the loop that sends all users theirs."""
    server = servers.start()
    queue = "streamlit.runtime.forward_msg_queue:ForwardMsgQueue"
    assert get(server, f"/put?{urlencode({'owner': queue, 'name': 'clear'})}") == (200, "put")
    for path in ("/healthz", "/_stcore/health"):
        assert get(server, path) == (503, "Streamlit no longer sends messages to browsers.")
    # On a busy machine the maintenance may be late at the first look; it is the loop that stays.
    wait(lambda: get(server, "/readyz") == (503, '{"ready":false,"waiting_for":["loop"]}'))
    assert describe(server)["is_raised"]
