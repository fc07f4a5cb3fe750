"""The app for one user and for many: shared parts and differences."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.web.server.app_discovery import discover_asgi_app

from tests.host.test_files import Streamlit, ask
from viz import ROOT
from viz.app import public
from viz.app.make import SCRIPT, make_app
from viz.frame.connection import loading
from viz.host.files import Files
from viz.host.guard import Guard

BOTH = pytest.mark.parametrize("hosted", [False, True])


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of connections are for all servers of the process, those of other tests included."""
    monkeypatch.setattr(public, "limit_connections", lambda: None)


def names(middleware):
    return [layer.cls for layer in middleware]


def paths(routes):
    return [route.path for route in routes]


@pytest.mark.parametrize("entry", ["app", "serve"])
def test_entry_is_read_as_server(entry):
    """Streamlit looks for ``st.App(`` in a file's text before it runs it."""
    app = discover_asgi_app(Path(ROOT) / f"{entry}.py")
    assert (app.is_asgi_app, app.import_string) == (True, f"{entry}:app")


def test_public_server_adds_guard_and_probes():
    """All else is the same at a desk, in the same order."""
    desk, hosted = (make_app(hosted=hosted) for hosted in (False, True))
    assert names(hosted.middleware) == [Guard, *names(desk.middleware)] == [Guard, Files]
    assert paths(hosted.routes) == ["/healthz", "/readyz", "/metrics", *paths(desk.routes)]
    assert hosted.middleware[-1].kwargs == desk.middleware[-1].kwargs
    assert hosted.options["script_path"] == desk.options["script_path"] == str(SCRIPT)
    assert (desk.options["on_script_error"], hosted.options["on_script_error"]) == (None, public.errors.on_script_error)


def test_added_route_passes_the_guard():
    """Every other address that is no page's is unknown."""
    app = make_app(hosted=True, routes=[Route("/inside", lambda _: PlainTextResponse("inside"))])
    guard = app.middleware[0]
    behind = guard.cls(Streamlit(), *guard.args, **guard.kwargs)
    assert paths(app.routes)[-1] == "/inside"
    assert [ask(behind, path, host="a")[0] for path in ("/inside", "/search.json", "/outside")] == [200, 200, 404]


@pytest.mark.parametrize(
    ("path", "imported"),
    [
        ("/", []), ("/start", []), ("/nothing", []), ("/favicon.png", []),
        ("/masks", [("viz.frame.page", "pages.masks.page")]),
        ("/step-by-step", [("viz.frame.page", "pages.step_by_step.page")]),
    ],
)  # fmt: skip
@BOTH
def test_opened_page_is_imported_ahead(monkeypatch, hosted, path, imported):
    """While its code comes to the browser."""
    imports = []
    monkeypatch.setattr(loading, "begin_to_import", lambda *modules: imports.append(modules))
    files = make_app(hosted=hosted).middleware[-1]
    assert ask(files.cls(Streamlit(), *files.args, **files.kwargs), path, host="a")[0] == 200
    assert imports == imported
