"""The metrics, read by Prometheus' own parser, and closed to all who send no token."""

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from starlette.requests import Request
from streamlit.runtime.stats import CounterStat

from tests.coroutines import finish
from viz import limits
from viz.background import failures
from viz.frame.queue_notice import make_stores
from viz.host.metrics import METRICS, Metrics, counter
from viz.host.sockets import Sockets


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch) -> Metrics:
    monkeypatch.setattr(limits, "METRICS_TOKEN", "open sesame")
    return Metrics(Sockets(), {"hidden": 0}, make_stores())


def ask(metrics: Metrics, authorization: str | None):
    headers = [] if authorization is None else [(b"authorization", authorization.encode())]
    return finish(metrics.route.endpoint(Request({"type": "http", "path": METRICS, "headers": headers})))


def samples(text: str) -> dict[tuple[str, str], float]:
    """The values, by name and by the value of the label."""
    return {
        (sample.name, "".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_read_by_prometheus(metrics, monkeypatch):
    """Every number arrives under its name, its type, its unit and its label."""
    monkeypatch.setattr(metrics.stores.memory, "most", lambda: 13e9)
    monkeypatch.setitem(failures, "queue", 7)
    metrics.refusals.update({"another's session": 3, "message 1009": 5})
    for port in (1, 2):
        assert metrics.sockets.admit(f"203.0.113.{port}")
    answer = ask(metrics, "Bearer open sesame")
    assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(answer.body.decode())}
    assert {name: (family.type, family.unit) for name, family in families.items()} == {
        "headlight_refusals": ("counter", ""),
        "headlight_failures": ("counter", ""),
        "headlight_tabs": ("gauge", ""),
        "headlight_descriptors": ("gauge", ""),
        "headlight_descriptors_limit": ("gauge", ""),
        "headlight_memory_bytes": ("gauge", "bytes"),
        "headlight_memory_ceiling_bytes": ("gauge", "bytes"),
        "headlight_kept_bytes": ("gauge", "bytes"),
    }
    assert all(family.documentation for family in families.values())
    values = samples(answer.body.decode())
    assert values["headlight_refusals_total", "another's session"] == 3
    assert values["headlight_refusals_total", "message 1009"] == 5
    assert values["headlight_failures_total", "queue"] == 7
    assert values["headlight_tabs", ""] == 2
    assert 0 < values["headlight_descriptors", ""] <= values["headlight_descriptors_limit", ""]
    assert values["headlight_memory_ceiling_bytes", ""] == 13e9
    assert values["headlight_memory_bytes", ""] >= 50e6


def test_metrics_without_ceiling_are_readable(metrics, monkeypatch):
    """Before the server is warm the ceiling is infinite, and reported as 0."""
    monkeypatch.setattr(metrics.stores.memory, "most", lambda: float("inf"))
    assert samples(metrics.text())["headlight_memory_ceiling_bytes", ""] == 0


def test_counter_labels_are_escaped():
    """A label may hold each character that ends one; Prometheus' parser and Streamlit's writer agree."""
    value = 'a "quoted" \\n back\\slash\nand a line'
    text = counter("x", "About.", "rule", {value: 2})
    assert samples(f"{text}# EOF\n") == {("x_total", value): 2}
    assert CounterStat("x", 2, {"rule": value}).to_metric_str() in text


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer ", "Bearer", "Bearer öffne", "open sesame", "bearer open sesame"]
)
def test_metrics_without_token_are_404(metrics, authorization):
    """The route is hidden, and each attempt is counted."""
    answer = ask(metrics, authorization)
    assert (answer.status_code, answer.body) == (404, b"Not found.")
    assert metrics.refusals["hidden"] == 1


@pytest.mark.parametrize("authorization", [None, "Bearer ", "Bearer open sesame"])
def test_metrics_with_unset_token_are_404(metrics, monkeypatch, authorization):
    """A server without a token has no metrics; an empty token is refused."""
    monkeypatch.setattr(limits, "METRICS_TOKEN", "")
    assert ask(metrics, authorization).status_code == 404
