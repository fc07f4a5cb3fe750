"""When a replica dies, its users move to another at once and keep their picture."""

import asyncio
import gzip
import re
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from websockets.exceptions import ConnectionClosed

from bench.load.tab import Tab
from tests import SAFETY_NET
from tests.browser.drive import PATIENCE, address, listen, wait_run
from tests.coroutines import finish
from tests.deploy.fleet import COOKIE
from viz import limits
from viz.host.files import addresses_of_view
from viz.text import translator

pytestmark = [pytest.mark.browser, pytest.mark.long]
T = translator("en")
CLASS = 6
WITHIN = 5
"""From the end of a replica until its users see their picture again: at most so many times as long as to open it."""


@dataclass
class Class:
    """Users without a browser, who move a slider repeatedly and reconnect when their connection ends."""

    url: str
    answers: Counter[int] = field(default_factory=Counter)
    away: list[float] = field(default_factory=list)
    """Times at which a disconnected user was answered again."""
    errors: list[str] = field(default_factory=list)
    over: bool = False

    async def visitor(self, number: int) -> None:
        """One of them."""
        text, cut = f"Visitor {number} reads a sentence of their own.", False
        while not self.over:
            try:
                async with Tab(self.url) as tab:
                    answer = await tab.open(text=text, layer=number % 6)
                    while not self.over:
                        self.errors += answer.exceptions + answer.boxes
                        self.answers[number] += 1
                        if cut:
                            self.away.append(time.monotonic())
                            cut = False
                        await asyncio.sleep(0.5)
                        answer = await tab.change(layer=float(self.answers[number] % 6))
            except ConnectionClosed:
                cut = True
            except Exception as error:
                self.errors.append(repr(error))
                return

    async def work(self) -> None:
        """All of them."""
        await asyncio.gather(*map(self.visitor, range(CLASS)))


@contextmanager
def at_work(url: str) -> Iterator[Class]:
    """Run a class during the block, which begins when each user has been answered."""
    pupils = Class(url)
    thread = threading.Thread(target=lambda: asyncio.run(pupils.work()))
    thread.start()
    try:
        deadline = time.monotonic() + PATIENCE / 1000
        while len(pupils.answers) < CLASS and not pupils.errors and time.monotonic() < deadline:
            time.sleep(0.05)
        yield pupils
    finally:
        pupils.over = True
        thread.join()


def replica_of(page: Page) -> str:
    """Return the replica that nginx chooses for this user."""
    (name,) = (cookie["value"] for cookie in page.context.cookies() if cookie["name"] == COOKIE)
    return str(name)


def has_its_picture(page: Page) -> None:
    """The user's own sentence, the third head of the second layer, numbers and badge."""
    expect(page).to_have_url(re.compile(r"layer=1&head=2"))
    expect(page.get_by_role("textbox").first).to_have_value("dog bites man")
    expect(page.locator(".head-grid")).to_be_visible()
    expect(page.get_by_text(T("footer.checks", passed=9, n=9))).to_be_visible()


def test_new_users_spread_over_replicas(fleet):
    assert Counter(fleet.arrive() for _ in range(6)) == dict.fromkeys(fleet.servers, 6 // len(fleet.servers))


def ask(url: str, **headers: str) -> tuple[int, Message, bytes]:
    """Status, headers and body of an answer, as a browser asks: compressed."""
    request_headers = {name.replace("_", "-"): value for name, value in headers.items()} | {"accept-encoding": "gzip"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=request_headers), timeout=SAFETY_NET) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as unchanged:
        return unchanged.code, unchanged.headers, unchanged.read()


def test_files_are_compressed_and_cached(fleet):
    status, answer_headers, page = ask(f"{fleet.url}/")
    assert (status, answer_headers["content-encoding"], answer_headers["cache-control"]) == (
        200,
        "gzip",
        "private, no-cache",
    )
    assert ask(f"{fleet.url}/", if_none_match=answer_headers["etag"])[0] == 304
    names = re.findall(r'(?:href|src)="\./(static/[^"]+\.js)"', gzip.decompress(page).decode())
    names += ["_stcore/bidi-components/" + address for address in addresses_of_view("start/arcs")]
    for part in ("index", "protobuf", "arcs/arcs"):
        status, answer_headers, body = ask(f"{fleet.url}/{next(name for name in names if part in name)}")
        assert (status, answer_headers["content-encoding"]) == (200, "gzip")
        assert answer_headers["cache-control"] == "public, max-age=31536000, immutable"
        assert len(body) < len(gzip.decompress(body)) / 2


def test_killed_replica_moves_users(fleet, browser):
    page = listen(browser.new_context(locale="en-US").new_page())
    page.set_default_timeout(PATIENCE)
    with at_work(fleet.url) as pupils:
        began = time.monotonic()
        page.goto(address(fleet.url, "heads", text="dog bites man", layer=1, head=2))
        wait_run(page)
        has_its_picture(page)
        opening = time.monotonic() - began
        box, first = page.get_by_role("textbox").first, replica_of(page)
        box.fill("dog bites man and")  # half a sentence, not sent yet
        with page.expect_websocket(timeout=PATIENCE):  # the one that replaces what was cut off
            killed = fleet.kill(first)
        wait_run(page)
        back = time.monotonic() - killed
        second = replica_of(page)
        assert second != first
        expect(box).to_have_value("dog bites man and")
        expect(page.locator(".head-grid")).to_be_visible()
        box.press("Control+Enter")  # the first change after that counts
        wait_run(page)
        expect(page).to_have_url(re.compile("text=dog\\+bites\\+man\\+and"))
        assert replica_of(page) == second
    page.context.close()
    assert not pupils.errors
    assert pupils.away, "a user of the class was there too"
    assert back < WITHIN * opening and max(pupils.away) - killed < WITHIN * opening


async def read_a_text(url: str) -> None:
    async with Tab(url) as tab:
        await tab.open("masks", text="a dog", source="words")


def test_nginx_log_omits_text(fleet):
    with urllib.request.urlopen(f"{fleet.url}/?text={quote('字' * limits.CHARACTERS)}", timeout=SAFETY_NET) as answer:
        assert answer.status == 200, "the longest link there is"
    session = "9972244e-270a-4eab-b5e9-ddfea1f13b7e"
    upload = urllib.request.Request(f"{fleet.url}/_stcore/upload_file/{session}/file", b"x", method="PUT")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(upload, timeout=SAFETY_NET)
    finish(read_a_text(fleet.url))
    log, until = "", time.monotonic() + PATIENCE / 1000
    while "/_stcore/stream" not in log:  # a connection is written down when it has ended
        assert time.monotonic() < until
        time.sleep(0.1)
        log = fleet.log.read_text("utf8")
    assert "/_stcore/upload_file/..." in log
    assert "dog" not in log and "?" not in log and session not in log
