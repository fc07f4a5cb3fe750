"""The ``/metrics`` route: counts and sizes of this process, as OpenMetrics 1.0 text for Prometheus."""

import hmac
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from viz import limits
from viz.background import failures
from viz.frame import queue_notice
from viz.host import descriptors
from viz.host.sockets import Sockets
from viz.scheduler.stores import Stores

METRICS = "/metrics"
MEDIA_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
REFUSALS = "Requests, connections and messages refused, by rule."
FAILURES = "Errors of work that users share, which were contained, and errors that were logged, by their place."
TABS = "Browser tabs connected."
DESCRIPTORS = "File descriptors open; 0 where the system does not say."
DESCRIPTORS_LIMIT = "File descriptors that the process may have open."


def sizes(stores: Stores) -> dict[str, tuple[str, float]]:
    """Return the sizes of an app in bytes: the help and the value, by metric without its unit."""
    most = stores.memory.most()
    return {
        "headlight_memory": ("Of this process, resident.", stores.memory.in_use()),
        "headlight_memory_ceiling": (
            "What it may take, with the models that are in memory now; 0 before it is warm.",
            most if most < float("inf") else 0,
        ),
        "headlight_kept": (
            "Of it, results that are kept to be shown again; they have a bound of their own.",
            stores.results.bytes,
        ),
    }


def counter(name: str, about: str, label: str, counts: Mapping[str, int]) -> str:
    """Return the lines of a counter with one label."""
    samples = (f'{name}_total{{{label}="{_escape(value)}"}} {n}\n' for value, n in sorted(dict(counts).items()))
    return f"# TYPE {name} counter\n# HELP {name} {about}\n{''.join(samples)}"


def gauge(name: str, about: str, value: float, unit: str = "") -> str:
    """Return the lines of a gauge; a unit is also the end of its name."""
    name = f"{name}_{unit}" if unit else name
    of_unit = f"# UNIT {name} {unit}\n" if unit else ""
    return f"# TYPE {name} gauge\n{of_unit}# HELP {name} {about}\n{name} {value:.0f}\n"


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class Metrics:
    """The metrics of a server."""

    def __init__(self, sockets: Sockets, refusals: dict[str, int], stores: Stores | None = None) -> None:
        self.sockets, self.refusals, self.stores = sockets, refusals, stores or queue_notice.stores()
        self.route = Route(METRICS, self._answer)

    def text(self) -> str:
        """Return all metrics as they are now."""
        families = [
            counter("headlight_refusals", REFUSALS, "rule", self.refusals),
            counter("headlight_failures", FAILURES, "work", failures),
            gauge("headlight_tabs", TABS, len(self.sockets)),
            gauge("headlight_descriptors", DESCRIPTORS, descriptors.count_open()),
            gauge("headlight_descriptors_limit", DESCRIPTORS_LIMIT, descriptors.limit()),
            *(gauge(name, about, size, "bytes") for name, (about, size) in sizes(self.stores).items()),
        ]
        return "".join([*families, "# EOF\n"])

    async def _answer(self, request: Request) -> Response:
        """Answer requests with the token; others get 404."""
        if not is_operator(request.headers.get("authorization", "")):
            self.refusals["hidden"] += 1
            return PlainTextResponse("Not found.", 404)
        return Response(self.text(), media_type=MEDIA_TYPE, headers={"cache-control": "no-store"})


def is_operator(authorization: str) -> bool:
    """Return whether this header holds the metrics token; False if none is configured."""
    expected = f"Bearer {limits.METRICS_TOKEN}".encode()
    return bool(limits.METRICS_TOKEN) and hmac.compare_digest(authorization.encode(), expected)
