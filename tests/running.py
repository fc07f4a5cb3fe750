"""The app run without a browser, and what is read off it."""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple
from unittest.mock import Mock

import numpy as np
import pytest
import streamlit as st
import torch
from jaxtyping import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import Element
from streamlit.util import calc_hash

import viz.modes
from pages import FIRST
from tests import SAFETY_NET
from viz.app.make import SCRIPT
from viz.frame import available_models, sidebar
from viz.frame.connection import redirects

OpenApp = Callable[..., AppTest]

_scanned = cache(manifest_scanner.scan_component_manifests)
_resolve = manifest_scanner.ComponentConfig.resolve_asset_root
_folder = cache(lambda folder, package: _resolve(manifest_scanner.ComponentConfig("", folder), package))
"""Cache the scan of installed packages and the folders of views, which a server makes once, and the test harness for
every app."""


def _folder_of(view: manifest_scanner.ComponentConfig, package: Path) -> Path | None:
    return _folder(view.asset_dir, package)


_must_be_over = local_script_runner.require_widgets_deltas


def _wait(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
    """Sleep until a run is over. Streamlit's own looks a thousand times a second, and holds the run up each time."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    _must_be_over(runner, 0.1)


def start_app(function: Callable[..., None], **options: Any) -> AppTest:
    """Return an app of one function that may take its time; Streamlit's own limit of a run is 3 s."""
    return AppTest.from_function(function, default_timeout=SAFETY_NET, **options)


def _hash_of(page: str) -> str:
    """Return Streamlit's name of a page: the hash of its path."""
    return calc_hash("" if page == FIRST else sidebar.path_of(page))


def write_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a link put in place of another by Streamlit: without a browser no view can write it into the address bar."""
    monkeypatch.setattr(redirects, "replace_entry", st.query_params.from_dict)


def opener(monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """The function behind the fixture ``open_app``."""
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", _scanned)
    monkeypatch.setattr(manifest_scanner.ComponentConfig, "resolve_asset_root", _folder_of)
    monkeypatch.setattr(local_script_runner, "require_widgets_deltas", _wait)
    # The app runs as it does for a user. Tests of core and of models hold the shapes, which take a quarter of a run.
    monkeypatch.setattr(config, "jaxtyping_disable", True)
    write_links(monkeypatch)
    available_models._on_this_machine.cache_clear()
    # What a presentation has computed ahead would go on in a thread beside the tests that follow, and be seen by them.
    if "present" in {mode.name for mode in iter_modules(viz.modes.__path__)}:
        monkeypatch.setattr("viz.modes.present.prefetch.start_thread", Mock)

    def run(page: str = "heads", *, locale: str = "en-US", **link: Any) -> AppTest:
        app = AppTest.from_file(str(SCRIPT), default_timeout=SAFETY_NET)
        # What a browser says of itself; a server sends embed=1 to embed=true, and Streamlit keeps that from the app.
        app.context = {"locale": locale, "is_embedded": link.pop("embed", None) in (1, "1", "true")}
        for name, value in link.items():
            app.query_params[name] = str(value)
        app._page_hash = _hash_of(page)
        return app.run()

    return run


def checked(app: AppTest, section: str) -> tuple[int, int]:
    """Count the live checks of a section that hold, and all of them, from its footer; (0, 0) without a footer."""
    for group in app.button_group:
        if group.key == f"_footer_{section}":
            labels = [option.content for option in group.proto.options]
            counts = [tuple(map(int, re.findall(r"\d+", label))) for label in labels]
            numbers = next((numbers for numbers in counts if len(numbers) == 2), (0, 0))
            return (min(numbers), max(numbers))
    return (0, 0)


def walk(block: Any) -> Iterator[Any]:
    """Every element and container below a part of the page, e.g. ``walk(app.main)``."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from walk(child)


def link_of(app: AppTest) -> dict[str, str]:
    """Return the parameters in the address bar, of which one that was written is a list."""
    return {name: value if isinstance(value, str) else value[0] for name, value in dict(app.query_params).items()}


def all_elements(app: AppTest) -> Iterator[Any]:
    """Every element and container of the page and the sidebar."""
    yield from walk(app.main)
    yield from walk(app.sidebar)


PLAIN_DEFAULTS = ("checkbox", "toggle", "number_input", "text_area", "text_input")
"""Widgets whose default is a value, and not the place of one."""


def wrong_defaults(app: AppTest) -> dict[str, tuple[Any, Any]]:
    """Return the parameters whose widgets are not sent with their values as defaults, by name: the value, the default.

    A browser that has lost the value of a widget begins it with its default.
    """
    names = app.session_state["_parameters"].declared.keys()
    pairs = {
        element.key: pair
        for element in all_elements(app)
        if getattr(element, "key", None) in names and (pair := _value_and_default(element))
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _value_and_default(element: Element) -> tuple[Any, Any] | None:
    """Return a widget's value and the default in its message, in the same form; None if it is no widget."""
    proto, type_ = element.proto, element.type
    if type_ in PLAIN_DEFAULTS:
        return element.value, proto.default
    if type_ in ("selectbox", "radio"):
        return element.index, proto.default if proto.HasField("default") else None
    if type_ in ("button_group", "multiselect"):
        return list(element.indices), list(proto.default)
    if type_ == "slider":
        return [element.value], list(proto.default)
    if type_ == "select_slider":
        return [element.format_func(element.value)], [proto.options[int(place)] for place in proto.default]
    return None


def matrices(app: AppTest) -> dict[str, tuple[dict[str, Any], torch.Tensor]]:
    """Return the message of each matrix on the page, by its key: the texts around its cells, and the cells."""
    return dict(_views(app, "matrix", lambda header: header["shape"]))


class Bars(NamedTuple):
    """The message of a bar chart: the texts around its bars, and the height of each, by series."""

    header: dict[str, Any]
    series: dict[str, torch.Tensor]


def bar_charts(app: AppTest) -> dict[str, Bars]:
    """Every bar chart on the page, by its key."""
    charts = _views(app, "bars", lambda header: (len(header["series"]), len(header["labels"])))
    return {key: Bars(header, dict(zip(header["series"], rows, strict=True))) for key, (header, rows) in charts}


def line_charts(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the message of every line chart on the page, by its key."""
    charts = [view.proto for view in app.get("bidi_component") if view.proto.component_name == "headlight.lines"]
    return {proto.id.rpartition("-")[2]: json.loads(proto.json)[0] for proto in charts}


def _views(
    app: AppTest, name: str, shape: Callable[[dict[str, Any]], Sequence[int]]
) -> Iterator[tuple[str, tuple[dict[str, Any], torch.Tensor]]]:
    """The key of each view of this name, with its header and its first block of numbers, in the shape it has."""
    for view in app.get("bidi_component"):
        if view.proto.component_name == f"headlight.{name}":
            data = view.proto.bytes
            end = 4 + int.from_bytes(data[:4], "little")
            header = json.loads(data[4:end])
            sizes = tuple(shape(header))
            numbers = np.frombuffer(data, "<f4", math.prod(sizes), end).reshape(sizes)
            yield view.proto.id.rpartition("-")[2], (header, torch.tensor(numbers))


_MARKDOWN = {"strong": "**", "em": "*", "code": "`"}
_PART = re.compile(rf"</?({'|'.join(_MARKDOWN)})>|<[^>]*>")


def sentences_of(app: AppTest) -> list[str]:
    """The sentences on the page, as they are written in Markdown, whether or not terms are marked in them."""
    with_terms = re.findall(
        r'<div class="says"><p>(.*?)</p><div ', "".join(element.proto.body for element in app.get("html"))
    )
    plain = [unescape(_PART.sub(lambda tag: _MARKDOWN.get(tag[1] or "", ""), sentence)) for sentence in with_terms]
    return [element.value for element in app.markdown] + plain
