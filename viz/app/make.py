"""The composition root: everything that an app needs to be served, at a desk or for many users."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.middleware import Middleware
from starlette.routing import Route

from pages import EVERY, FIRST, NAVIGATION
from pages.start.static_picture import PICTURES
from viz import PACKAGE
from viz.app.search import send_index
from viz.frame.connection import loading
from viz.frame.queue_notice import make_stores, serve
from viz.frame.search.box import INDEX
from viz.host.desk import Desk
from viz.host.files import Files
from viz.host.first_paint import StaticPaint
from viz.host.page_head import PREVIEW, preview
from viz.scheduler.stores import Bounds, Stores

if TYPE_CHECKING:
    from viz.app.public import PublicServer


SCRIPT = PACKAGE / "app" / "script" / "main.py"


@dataclass(frozen=True, kw_only=True)
class App:
    """An app that is ready to be served; of its middleware the outermost comes first."""

    stores: Stores
    server: "Desk | PublicServer"
    routes: Sequence[Route]
    middleware: Sequence[Middleware]

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of ``st.App``, which each entry calls itself: Streamlit looks for the call in its text."""
        return {
            "script_path": str(SCRIPT),
            "lifespan": self.lifespan,
            "routes": self.routes,
            "middleware": self.middleware,
            "on_script_error": self.server.on_script_error,
        }

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        """Run the server's startup and background tasks."""
        with serve(self.stores):
            async with self.server.lifespan(app):
                yield


def make_app(*, hosted: bool, bounds: Bounds | None = None, routes: Sequence[Route] = ()) -> App:
    """Return the app, put together for one user or for many.

    The pages, their script, their files, the static first paint and what is imported for whom are the same for both. A
    public server differs in what :class:`~viz.app.public.PublicServer` has and :class:`~viz.host.desk.Desk` has not:

    - a guard before every request, and limits of connections;
    - ``/healthz``, ``/readyz`` and ``/metrics``;
    - a lifespan that loads the model and computes the examples before it is ready, keeps memory within a ceiling and
      what users type out of the log. A desk opens the browser instead;
    - a sentence for the user where a page fails. A desk shows Streamlit's traceback.

    Args:
        hosted: whether it is for many users. Then the private names that their safety depends on are looked for first.
        bounds: of its queues and caches; those of the environment if none are given.
        routes: more of them, at the top; a public server's guard lets these pass.

    Raises:
        SystemExit: if it is hosted, and one of these names is missing.
    """
    stores, routes = make_stores(bounds), [Route(f"/{INDEX}", send_index), *routes]
    server = _public_server(stores, routes) if hosted else Desk()
    paint = StaticPaint(navigation=NAVIGATION, pictures=PICTURES)
    files = Middleware(Files, pages=EVERY, paint=paint, on_page=expect)
    return App(
        stores=stores,
        server=server,
        routes=[*server.routes, Route(f"/{PREVIEW}", preview), *routes],
        middleware=[*server.middleware, files],
    )


def _public_server(stores: Stores, routes: Sequence[Route]) -> "PublicServer":
    # A local server does without the private names that this imports.
    from viz.app.public import PublicServer

    return PublicServer(stores, routes)


def expect(page: str) -> None:
    """Import what a page needs while its code comes to the browser of who opens it; the first one needs nothing."""
    if page != FIRST:
        loading.begin_to_import("viz.frame.page", f"pages.{page}.page")
