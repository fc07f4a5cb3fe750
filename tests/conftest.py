"""Settings and fixtures of every test: no network, a layer, and ``open_app``, which runs the app without a browser."""

import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cache
from hashlib import sha256
from itertools import groupby, product
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub
# Before anything imports torch: OpenMP reads it once. The tests' tensors are small, and the threads of several workers
# would wait for each other on the same cores. torch.set_num_threads speaks for its own thread alone.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ |= {
    "HEADLIGHT_SECONDS": "600",
    "HEADLIGHT_WAIT": "600",
}  # a test machine may be slow: a limit is a test's own

import pytest

from tests.browser.fixtures import (
    app_url,
    browser,
    new_page,
    page,
    pytest_runtest_makereport,
    server,
    shared,
    visit,
)
from tests.packaged import memory_given_back, memory_is_bounded
from tools.suite import MODELS, SERVER, UNIT

__all__ = [
    "app_url",
    "browser",
    "memory_given_back",
    "memory_is_bounded",
    "new_page",
    "page",
    "pytest_runtest_makereport",
    "server",
    "shared",
    "visit",
]

ROOT = Path(__file__).parents[1]
LAYERS = {
    **dict.fromkeys(UNIT, "unit"),
    **dict.fromkeys(MODELS, "models"),
    **dict.fromkeys(SERVER, "server"),
}
"""The layer of the tests in a folder; what drives a browser is ``browser``, and all the rest ``app``."""

LONGEST_FIRST = "browser", "server", "app", "models", "unit"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--part HASH/40``: a fortieth of the selected tests, the one that a commit's hash picks."""
    parser.addoption("--part", metavar="HASH/N", help="run one of N parts, chosen by a hexadecimal number")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what collecting imports out of later garbage collections: they took a third of the processor's time."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test with its layer and its suite: ``pytest -m unit``, ``pytest -m "not long"``."""
    layers: dict[pytest.Item, str] = {}
    tests = [list(cases) for _, cases in groupby(items, key=lambda item: item.nodeid.partition("[")[0])]
    repeated = {case for cases in tests for case in repeated_settings(cases) if not case.get_closest_marker("fast")}
    for item in items:
        layer, opens_browser = layer_of(item.path), "browser" in getattr(item, "fixturenames", ())
        layers[item] = layer = "browser" if layer == "app" and opens_browser else layer
        item.add_marker(layer)
        if item in repeated or is_long(item, opens_browser):
            item.add_marker("long")
    if (missing := missing_cases(items)) and not any("::" in argument for argument in config.args):
        raise pytest.UsageError(f"`fast` names cases that are none: {missing}")
    if part := config.getoption("part"):
        items[:] = [item for item in items if is_in_part(item.nodeid, part)]
    # Files that take long are not begun last: one worker would finish them alone.
    items.sort(key=lambda item: LONGEST_FIRST.index(layers[item]))


@cache
def layer_of(path: Path) -> str:
    """Return the layer of a file's tests, were none of them to open a browser."""
    name = path.relative_to(ROOT).as_posix()
    return next((layer for place, layer in LAYERS.items() if name.startswith(place)), "app")


def is_long(item: pytest.Item, opens_browser: bool) -> bool:
    """Return True for a test of the long suite: it opens a browser, or is marked so, and is not named `fast`.

    ``@pytest.mark.fast`` names a whole test, ``@pytest.mark.fast("heads")`` some of its cases: all the others are long.
    """
    if fast := item.get_closest_marker("fast"):
        return bool(fast.args) and item.callspec.id not in fast.args  # type: ignore[attr-defined]
    return opens_browser or item.get_closest_marker("long") is not None


def repeated_settings(cases: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the cases of a test that runs the app whose settings others have already: of a product the pairs are long.

    Several ``parametrize`` above a test make a product. Every value of each is in one of the cases that are left.
    """
    values = [mark.args[1] for mark in cases[0].iter_markers("parametrize")]
    if len(values) < 2 or "open_app" not in cases[0].fixturenames:  # type: ignore[attr-defined]
        return
    places = list(product(*map(range, map(len, values))))
    _, most = max((len(options), i) for i, options in enumerate(values))
    if len(places) == len(cases):
        yield from (
            case
            for case, place in zip(cases, places, strict=True)
            if any(number != place[most] % len(options) for number, options in zip(place, values, strict=True))
        )


def missing_cases(items: list[pytest.Item]) -> set[tuple[str, str]]:
    """Return the tests and names of cases that `fast` names, and that do not exist: they would run in no suite."""
    names, cases = set(), set()
    for item in items:
        if fast := item.get_closest_marker("fast"):
            function = item.nodeid.partition("[")[0]
            names |= {(function, case) for case in fast.args}
            cases.add((function, item.callspec.id if hasattr(item, "callspec") else ""))
    return names - cases


def pytest_report_header(config: pytest.Config) -> str | None:
    """Name the part that runs."""
    if not (part := config.getoption("part")):
        return None
    number, n_parts = part.split("/")
    return f"part {int(number, 16) % int(n_parts)} of {n_parts}"


def is_in_part(name: str, part: str) -> bool:
    """Return True if a test is in a part: ``"1f3/40"`` is the one numbered by the remainder of 0x1f3 by 40."""
    number, n_parts = part.split("/")
    return int(sha256(name.encode()).hexdigest(), 16) % int(n_parts) == int(number, 16) % int(n_parts)


MENDED = (
    ("streamlit.runtime.app_session", "AppSession", "_create_new_session_message"),
    ("streamlit.runtime.app_session", "AppSession", "request_rerun"),
    ("streamlit.runtime.websocket_session_manager", "WebsocketSessionManager", "connect_session"),
    ("streamlit.runtime.memory_session_storage", "MemorySessionStorage", "save"),
    ("streamlit.runtime.forward_msg_queue", "ForwardMsgQueue", "clear"),
    ("streamlit.runtime.state.session_state", "WStates", "__getitem__"),
)
"""Names of Streamlit that a public server mends: for the whole process, so a test has to undo it."""


def mended() -> set[str]:
    """The names that are not Streamlit's own in this process."""
    return {
        f"{kind}.{name}"
        for module, kind, name in MENDED
        if module in sys.modules and getattr(getattr(sys.modules[module], kind), name).__module__ != module
    }


@pytest.fixture(autouse=True)
def process_stays() -> Iterator[None]:
    """A test leaves its process as it is: those after it would run on a mended Streamlit, or wait for a cold server."""
    before = mended()
    yield
    assert mended() <= before, "mended for all tests after this one"
    loading = sys.modules.get("viz.frame.connection.loading")
    assert loading is None or loading._is_warm.is_set(), "all pages of the tests after this one would wait"


@pytest.fixture
def raise_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    """Have a name raise an error at its next use: ``log = raise_once(owner, name)``; ``log()`` is what was logged.

    Reading the log checks that the error was raised, counted once, and logged without its message.
    """
    from tests.faults import Fault
    from viz.background import failures

    def arm(owner: object, name: str) -> Callable[[], list[str]]:
        n_before, fault = failures.total(), Fault(owner, name, monkeypatch.setattr)
        caplog.clear()

        def log() -> list[str]:
            assert fault.is_raised, f"{name} was not used"
            assert failures.total() == n_before + 1
            assert fault.SECRET not in caplog.text
            return [record.getMessage().partition(" in ")[0] for record in caplog.records]

        return log

    return arm


@pytest.fixture
def without_source_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections count their own checks alone; tests/pages/test_faults_in_place.py holds those of a page's source."""
    monkeypatch.setattr("viz.frame.page.choice_checks", lambda *_, **__: [])


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch):
    """Run the app: ``open_app("step_by_step", source="words", lang="zh")``; ``locale`` is the browser's language.

    Every other name is a parameter of the link.
    """
    from tests.running import opener  # Streamlit is not for the tests that do without it

    return opener(monkeypatch)


@pytest.fixture
def small_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """List a small random model of a family in the app: ``small_model("mistral", sliding_window=2)`` is its name."""
    from tests import checkpoints  # transformers is not for the tests that do without it

    def make(family: str, **sizes: object) -> str:
        entry = checkpoints.make_entry(family, tmp_path / "small", **sizes)
        for module in ("specs", "compute"):
            monkeypatch.setattr(f"viz.frame.{module}.local_entries", lambda: (entry,))
        return entry.id

    return make
