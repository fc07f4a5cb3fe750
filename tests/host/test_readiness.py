"""The probes say so where users are not answered."""

from pathlib import Path

import pytest

from bench.load.tab import Tab
from tests.browser.drive import Server, serve
from tests.coroutines import finish
from tests.host.test_server import get, wait

FAULTY = Path(__file__).with_name("faulty_app.py")


def break_session(server: Server, tab: Tab) -> None:
    assert get(server, f"/break?session={tab.session}") == (200, "broken")


def test_health_with_ended_loop_is_503(tmp_path):
    """An exception outside a session ends the loop that sends all users their messages."""

    async def visit(server: Server) -> None:
        async with Tab(server.url, 20) as tab:
            await tab.open("", lang="en")
            break_session(server, tab)
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
        wait(lambda: "The first page is not drawn" in server.read_log())
        assert get(server, "/readyz") == (503, '{"ready":false,"waiting_for":["page"]}')
        assert get(server, "/healthz") == (200, "ok")
        go.touch()
        wait(lambda: get(server, "/readyz")[0] == 200)
        assert server.read_log().count("The first page is not drawn: it has no title, or shows an error") == 1
