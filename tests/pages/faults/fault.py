"""Pages opened with a mistake put into a function, of which one of their live checks must take notice."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.faults import Wrong, put_in
from tests.running import OpenApp, checked
from tests.sections import link_to
from viz.frame import queue_notice
from viz.frame.compute import long_texts


@dataclass(frozen=True)
class Fault:
    """A function that does something else, and where that must be noticed; ``model`` is read anew with it."""

    function: Any
    wrong: Wrong
    places: tuple[str, ...]
    model: str = ""


def forget_all() -> None:
    """Clear cached results that hold a mistake."""
    for store in (queue_notice.results(), long_texts.store()):
        for name in {key[0] for key in (*store._entries, *store._pinned)}:
            store.forget(name)


def open_correct(open_app: OpenApp, link: str) -> tuple[AppTest, str]:
    """Open a section by "page/section?parameters", with no mistake in it: all its checks pass; return its name."""
    path, _, query = link.partition("?")
    page, section = path.split("/")
    forget_all()
    app = open_app(page, **(link_to(page, section) | dict(parse_qsl(query))))
    assert not app.exception
    n_passed, n = checked(app, section)
    assert n_passed == n > 0
    return app, section


def failure_to_notice(
    app: AppTest, section: str, fault: Fault, read_anew: Callable[[str], object] = lambda _: None
) -> str:
    """Run an open section with a fault in it; return "" if a check turns red, else what happened."""
    with pytest.MonkeyPatch.context() as patch:
        put_in(patch, fault.function, fault.wrong)
        forget_all()
        read_anew(fault.model)
        app.run()
        n_passed, n = checked(app, section)
        failures = [str(error.value) for error in app.exception]
    forget_all()
    return "; ".join(failures) or ("" if n_passed < n else f"{n_passed} of {n} checks pass")
