"""A server for tests, and pages whose requests and errors are recorded."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlparse
from weakref import WeakKeyDictionary

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, WebSocket, expect

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    "The browser tests need Chrome or Chromium, and none was found. On Debian or Ubuntu: apt-get install chromium. "
    "Elsewhere: install Chrome from google.com/chrome."
)
OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled",
    "PreconnectToSearch", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup",
)  # fmt: skip
"""Features of the browser that are switched off. The last three are pages of its own for an address bar, made
for every page anew: three quarters of what an empty one costs. The others are Playwright's, which this replaces."""
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", f"--disable-features={','.join(OFF)}",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # nothing can leave the machine
)  # fmt: skip
WIDE, PHONE = (1280, 800), (390, 844)
DELAY = "() => new Promise((done) => setTimeout(() => done(true), 210))"
"""A page sends a change after up to 200 ms; a timer in the same page ends after that one on any machine."""

FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
"""Like the one above, waited for anew if the page opens itself again meanwhile, as a server's first visit does."""

VIEWS = r"""() => [...document.querySelectorAll("[data-testid=stBidiComponentRegular]")].every((place) =>
  place.shadowRoot?.view ||
  /st-key-(see|address|reopen|\w+_(wall|head|two))\b/.test(place.closest("[class*=st-key-]")?.className))"""
"""The code of every view is there: it may come after the page's last element, and hears no key before. The places
that are left out only hand numbers to a view, or have none."""

PATIENCE = int(
    os.environ.get("HEADLIGHT_PATIENCE", "60000")
)  # ms; a test machine may be slow, and no test asserts a time


def find_browser() -> str | None:
    """The installed browser, if any."""
    mac = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    browser_path = next((path for name in NAMES if (path := shutil.which(name))), None)
    return browser_path or (str(mac) if mac.exists() else None)


@dataclass(frozen=True)
class Server:
    """A running Streamlit server and its log."""

    url: str
    log: Path
    pid: int

    def read_log(self, since: int = 0) -> str:
        """Return the log after that many characters."""
        return self.log.read_text("utf8", "replace")[since:]


def folder_of(script: Path) -> Path:
    """Return the checkout from which a script is run: this one, or another beside which it is measured."""
    return ROOT if script.is_relative_to(ROOT) or not (script.parent / ".streamlit").exists() else script.parent


@contextmanager
def serve(script: Path, log: Path, **settings: str) -> Iterator[Server]:
    """Run a Streamlit script on a free port of this machine, until the block ends; settings go into its environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", str(script), "--server.headless=true",
        f"--server.port={port}", "--server.address=127.0.0.1",
    ]  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")} | settings
    with (
        log.open("w") as out,
        subprocess.Popen(
            command, cwd=folder_of(script), env=environment, stdout=out, stderr=subprocess.STDOUT
        ) as process,
    ):
        server = Server(f"http://127.0.0.1:{port}", log, process.pid)
        try:
            _wait_until_healthy(server, process)
            yield server
        finally:
            stop(process)


def stop(process: subprocess.Popen[bytes], seconds: float = 20) -> None:
    """End a process: by SIGTERM, and by SIGKILL if it is still there after so many seconds."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()


def _wait_until_healthy(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=PATIENCE / 1000):
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"the server did not start:\n{server.read_log()}")


def address(url: str, path: str = "", **parameters: object) -> str:
    """A link to a page of the app."""
    return f"{url}/{path}" + (f"?{urlencode(parameters)}" if parameters else "")


_UNANSWERED: WeakKeyDictionary[Page, str] = WeakKeyDictionary()
"""The state of a page's request: "asked", "begun", or "" when it is answered."""


def listen(page: Page) -> Page:
    """Follow what a page asks of the app from now on, as :func:`wait_run` has to know; gives the page."""
    from streamlit.proto.BackMsg_pb2 import BackMsg  # not for the tests that do without Streamlit
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    def asks(message: str | bytes) -> None:
        if isinstance(message, bytes) and BackMsg.FromString(message).WhichOneof("type") == "rerun_script":
            _UNANSWERED[page] = "asked"

    def answers(message: str | bytes) -> None:
        if isinstance(message, str) or len(message) > 10_000:  # beginnings and ends of runs are short
            return
        message_ = ForwardMsg.FromString(message)
        kind = message_.WhichOneof("type")
        if kind == "new_session" and _UNANSWERED[page]:
            _UNANSWERED[page] = "begun"
        # An end that comes before a beginning is that of the run before.
        is_end = kind == "script_finished" and message_.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if is_end and _UNANSWERED[page] == "begun":
            _UNANSWERED[page] = ""

    def follow_socket(socket: WebSocket) -> None:
        _UNANSWERED[page] = ""  # what was asked on the connection before is lost, or is asked once more
        socket.on("framesent", asks)
        socket.on("framereceived", answers)

    _UNANSWERED[page] = ""
    page.on("websocket", follow_socket)
    return page


def answered(page: Page) -> None:
    """Wait until every requested run is finished; the page may still be drawing."""
    page.wait_for_function(DELAY)
    deadline = time.monotonic() + PATIENCE / 1000
    while _UNANSWERED[page]:
        if time.monotonic() > deadline:
            state = page.get_by_test_id("stApp").get_attribute("data-test-script-state")
            raise AssertionError(f"no answer: the last run was {_UNANSWERED[page]}, the app says {state}")
        page.wait_for_timeout(10)


def wait_run(page: Page) -> None:
    """Wait until the app has answered: connected, every run asked for finished, nothing left to draw."""
    # A page that has just connected asks at once; before it connects it has asked for nothing, and is not done.
    page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]").wait_for(
        state="attached", timeout=PATIENCE
    )
    answered(page)
    page.locator(
        "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
    ).wait_for(state="attached", timeout=PATIENCE)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0, timeout=PATIENCE)
    page.wait_for_function(VIEWS, timeout=PATIENCE)
    frame(page)
    again = page.locator(".st-key-reopen")  # an old link: the page is about to be another one
    if again.count():
        again.wait_for(state="detached", timeout=PATIENCE)
        wait_run(page)


def frame(page: Page) -> None:
    """Wait until views have drawn their data: they do so in the next frame."""
    page.wait_for_function(FRAMES)


def eventually(holds: Callable[[], None]) -> None:
    """Try again until it holds: an answer on its way may make a view draw once more between a look and the next."""
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        try:
            return holds()
        except AssertionError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


@contextmanager
def unanswered(server: Server) -> Iterator[None]:
    """The server does nothing meanwhile."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@dataclass
class Watch:
    """A recorder of faults while a page is open: a request to another machine, an error in the console."""

    elsewhere: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
        """Take notes of everything in this browser context."""
        context.on("request", lambda request: self._note_request(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: self._note_request(socket.url)))
        context.on("console", self._note_message)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def forget(self) -> None:
        """Forget the faults up to now."""
        self.elsewhere.clear()
        self.errors.clear()

    def _note_request(self, url: str) -> None:
        parts = urlparse(url)
        if parts.scheme not in ("data", "blob", "file") and parts.hostname not in ("127.0.0.1", "localhost"):
            self.elsewhere.append(url)

    def _note_message(self, message: ConsoleMessage) -> None:
        path = urlparse(message.location["url"]).path
        # On /<page> Streamlit looks for its server at /<page>/_stcore/... first, and does not find it.
        probing = path.endswith(("/_stcore/health", "/_stcore/host-config")) and path.count("/") > 2
        if message.type == "error" and not (probing and "404" in message.text):
            self.errors.append(f"{message.text} ({message.location['url']})")


def query_of(page: Page) -> dict[str, str]:
    """Return the parameters in the address bar."""
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


@dataclass
class Traffic:
    """Requests of a page; the bytes that come back over the wire, headers and websocket included; its messages."""

    paths: list[str] = field(default_factory=list)
    n_bytes: int = 0
    messages: int = 0

    def paths_with(self, part: str) -> list[str]:
        """The paths in which this stands."""
        return [path for path in self.paths if part in path]

    def _add_bytes(self, size: float) -> None:
        self.n_bytes += int(size)

    def _note_message(self, message: str | bytes) -> None:
        self.messages += 1
        self._add_bytes(len(message))


def count(page: Page) -> Traffic:
    """Count what a page asks for from now on."""
    traffic, session = Traffic(), page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.requestWillBeSent", lambda event: traffic.paths.append(urlparse(event["request"]["url"]).path))
    session.on("Network.loadingFinished", lambda event_: traffic._add_bytes(event_["encodedDataLength"]))
    page.on("websocket", lambda socket: socket.on("framereceived", traffic._note_message))
    return traffic


def open_chip(page: Page, name: str) -> None:
    """Open a chip above the picture (source, layer, head, mask, ...), in which its controls are."""
    page.locator(f".st-key-chip_{name} button").first.click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible(timeout=PATIENCE)


def open_section(page: Page, title: str) -> None:
    """Open a section by the mouse: by its tab, or in the menu *More* if the window has no room for the tab."""
    tab = page.locator(".st-key-section").get_by_text(title, exact=True)
    if tab.is_visible():
        tab.click()
    else:
        page.locator("[class*=st-key-_more] button").locator("visible=true").click()
        page.get_by_role("menuitem", name=title, exact=True).click()
