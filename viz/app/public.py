"""A public server: its guard, its limits and its readiness, which a desk has not."""

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
    """A server for many users, who are guarded from each other; it is warm before they are sent to it.

    Args:
        stores: what the app computes in turn, and keeps.
        routes: more of them, which the guard lets pass.
    """

    def __init__(self, stores: Stores, routes: Sequence[Route] = ()) -> None:
        import_ahead(f"pages.{FIRST}.page")  # it is there before anything that other pages need is imported
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
    """Import all of them, so that nobody waits for it; at a desk each is imported when it is first opened."""
    for name in EVERY:
        import_ahead(f"pages.{name}.page")
