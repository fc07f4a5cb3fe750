"""A public server with guard, limits and readiness, which a local server lacks."""

import viz.streamlit_internals.required  # noqa: F401 - before any private name that safety depends on is imported

# isort: split

from collections.abc import Sequence

from starlette.middleware import Middleware
from starlette.routing import Route

from pages import EVERY, FIRST
from viz.host import errors
from viz.host.connections import limit_connections
from viz.host.guard import Guard
from viz.host.readiness import Readiness, import_ahead
from viz.host.sockets import Sockets
from viz.scheduler.stores import Stores


class PublicServer:
    """A server for many users, isolated from each other; it is ready once it is warm."""

    def __init__(self, stores: Stores, routes: Sequence[Route] = ()) -> None:
        # The first page is there before anything that other pages need is imported.
        import_ahead(f"pages.{FIRST}.page")
        limit_connections()
        self.readiness = Readiness(Sockets(), import_pages, stores)
        paths = *EVERY, *(route.path.strip("/") for route in routes)
        self.middleware = [Middleware(Guard, sockets=self.readiness.sockets, readiness=self.readiness, pages=paths)]
        self.routes, self.lifespan, self.on_script_error = (
            self.readiness.routes,
            self.readiness.lifespan,
            errors.on_script_error,
        )


def import_pages() -> None:
    """Import all pages, so that no user waits; a local server imports each when it is first opened."""
    for name in EVERY:
        import_ahead(f"pages.{name}.page")
