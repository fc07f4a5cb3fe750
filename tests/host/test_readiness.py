"""A failure between Streamlit and one browser leaves all users answered; where it cannot, the probes say so."""

import asyncio
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.drive import Server, serve
from tests.coroutines import finish
from tests.host.test_server import SECRET, get, wait
from tests.load.tab import Tab

FAULTY = Path(__file__).with_name("faulty_app.py")
TOKEN = "a token"
PLACES = {
    "to_send": "changes", "note_request": "changes", "enqueue": "together", "flush": "together", "write": "writes",
    "join": "writes", "tidy": "last run", "read": "values",
}  # fmt: skip
"""What fails, and the patch that is counted for it."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("faults") / "log.txt"
    with serve(FAULTY, log, HEADLIGHT_METRICS_TOKEN=TOKEN) as running:
        wait(lambda: get(running, "/readyz")[0] == 200)
        yield running


def break_session(server: Server, place: str, tab: Tab) -> None:
    assert tab._socket is not None
    assert get(server, f"/break/{place}/{tab.session}/{tab._socket.local_address[1]}") == (200, "broken")


def faults(server: Server) -> dict[str, int]:
    """The failures counted so far, by patch."""
    asked = urllib.request.Request(f"{server.url}/_stcore/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    counted = (line.rpartition(" ") for line in lines if line.startswith("headlight_faults_total{"))
    return {labels.partition('patch="')[2].partition('"')[0]: int(float(number)) for labels, _, number in counted}


@pytest.mark.parametrize("place", PLACES)
def test_session_failing_in_place_stays_answered(server, place):
    """Its page is complete after the next change; other users notice nothing."""

    async def visit() -> None:
        async with Tab(server.url, 20) as failing, Tab(server.url, 20) as other, Tab(server.url, 20) as fresh:
            await asyncio.gather(failing.open(text="the cat sat"), other.open(text="a dog ran"))
            await failing.change(layer=2)
            break_session(server, place, failing)
            for layer in (3, 4):
                await failing.change(layer=layer)
                assert (await other.change(layer=layer)).boxes == []
            assert (await failing.change(text="the sun and the moon")).boxes == []
            await fresh.open(text="the sun and the moon", layer=4)
            assert failing._shown.keys() >= fresh._shown.keys(), "nothing is missing"
            assert all(failing.value(key) == fresh.value(key) for key in fresh.controls)

    before = faults(server)
    logged = len(server.written())
    finish(visit())
    after = faults(server)
    assert {patch for patch in after if after[patch] != before.get(patch, 0)} == {PLACES[place]}
    written = server.written(logged)
    assert written.count("A patch of Streamlit (") == written.count("Error in ") == 1
    assert SECRET not in written and "Traceback" not in written
    assert get(server, "/healthz")[0] == get(server, "/readyz")[0] == 200


def test_health_with_ended_loop_is_503(tmp_path):
    """A fault that no patch contains ends the loop that sends all users their messages."""

    async def visit(server: Server) -> None:
        async with Tab(server.url, 20) as tab:
            await tab.open("", lang="en")
            break_session(server, "end", tab)
            with pytest.raises(TimeoutError):
                tab.patience = 1
                await tab.go("masks")

    with serve(FAULTY, tmp_path / "log.txt") as server:
        wait(lambda: get(server, "/readyz")[0] == 200)
        finish(visit(server))
        for path in ("/healthz", "/_stcore/health"):
            assert get(server, path) == (503, "Streamlit no longer sends messages to browsers.")
        assert get(server, "/readyz") == (503, '{"ready":false,"waiting_for":["loop"]}')


def test_readiness_without_page_stays_503(tmp_path):
    """No user is sent to a server whose first page fails; it is tried again, and logged once."""
    go = tmp_path / "go"
    with serve(FAULTY, tmp_path / "log.txt", NO_PAGE_UNTIL=str(go)) as server:
        wait(lambda: "The first page is not drawn" in server.written())
        assert get(server, "/readyz") == (503, '{"ready":false,"waiting_for":["page"]}')
        assert get(server, "/healthz") == (200, "ok")
        go.touch()
        wait(lambda: get(server, "/readyz")[0] == 200)
        assert server.written().count("The first page is not drawn: it has no title, or shows an error") == 1
