"""A view in the browser: Python's data and the browser's messages, by Streamlit's own path."""

import json
import re
from importlib import import_module
from itertools import zip_longest
from pkgutil import walk_packages
from typing import Any

import pytest
import torch
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

import pages
import viz.frame
import viz.modes
from tests.messages import example, fits, hostile
from tests.running import start_app
from viz.components import bundle
from viz.components.head_grid import pack
from viz.components.kinds import Text
from viz.components.unpack import unpack
from viz.components.view import VIEWS, View, palette
from viz.limits import MESSAGE_BYTES

for package in (pages, viz.frame, viz.modes):  # views are declared where a module is imported
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
SENDING = [view for view in VIEWS if view.sends]


def every_view() -> None:
    """Mount every view that sends something, and note what its messages are handed to."""
    from functools import partial

    import streamlit as st

    from tests.components.test_view import SENDING

    st.session_state.lang = "en"
    st.session_state.setdefault("received", [])

    def receive(at: int, name: str, value: object) -> None:
        st.session_state.received.append((at, name, value))

    for at, view in enumerate(SENDING):
        view.mount(key=f"view{at}", data={"a": 1}, on={name: partial(receive, at, name) for name in view.sends})


def send(app: AppTest, states: dict[str, Any]) -> AppTest:
    """Run an app with states of its views, by their keys, as a browser sends them."""
    widget_states = WidgetStates()
    for view in app.get("bidi_component"):
        if (key := view.proto.id.rpartition("-")[2]) in states:
            widget_states.widgets.add(id=view.proto.id, json_value=json.dumps(states[key]))
    return app._run(widget_states)


def send_without_error(app: AppTest, states: dict[str, Any]) -> None:
    send(app, states)
    assert not app.exception, app.exception[0].message


def messages_of(app: AppTest) -> list[Any]:
    return [json.loads(view.proto.json)[0] for view in app.get("bidi_component")]


@pytest.fixture
def app() -> AppTest:
    return start_app(every_view).run()


@pytest.mark.parametrize("last", [False, True])
def test_view_message_that_fits_arrives(app, last):
    """The least and the most that a kind allows, of every message of every view; the answer says its number."""
    for count, name in enumerate({name for view in SENDING for name in view.sends}, 3):
        values = {at: example(view.sends[name], last=last) for at, view in enumerate(SENDING) if name in view.sends}
        app.session_state["received"] = []
        send(app, {f"view{at}": {name: {"value": value, "sent": count}} for at, value in values.items()})
        assert not app.exception
        assert app.session_state["received"] == [(at, name, value) for at, value in values.items()]
        assert {messages_of(app)[at]["sent"] for at in values} == {count}


def test_view_hostile_message_is_ignored(app):
    """Wrong kinds, ranges, sizes, nesting, parts and numbers: no exception, and nothing arrives that does not fit."""
    kinds = [(at, name, kind) for at, view in enumerate(SENDING) for name, kind in view.sends.items()]
    n_sent = 0
    for messages in zip_longest(*(hostile(kind) for _, _, kind in kinds)):
        states: dict[str, dict[str, Any]] = {}
        n_bytes = 0
        for (at, name, _), message in zip(kinds, messages, strict=True):
            n_bytes += len(json.dumps(message))
            if n_bytes > MESSAGE_BYTES * 0.9:  # Streamlit takes no more at once
                send_without_error(app, states)
                states, n_bytes = {}, len(json.dumps(message))
            states.setdefault(f"view{at}", {})[name] = message
        n_sent += sum(message is not None for message in messages)
        send_without_error(app, states)
    inbox = app.session_state["received"]
    assert [(SENDING[at].name, name) for at, name, value in inbox if not fits(SENDING[at].sends[name], value)] == []
    assert 0 < len(inbox) < n_sent / 3


@pytest.mark.parametrize("state", ["7", "[1]", "null", '"x"', "[" * 500 + "]" * 500])
def test_view_ignores_invalid_state(app, state):
    """The state of a component is whatever text its browser sends."""
    widget_states = WidgetStates()
    for view in app.get("bidi_component"):
        widget_states.widgets.add(id=view.proto.id, json_value=state)
    app._run(widget_states)
    assert not app.exception and app.session_state["received"] == []


def test_view_words_and_colours_are_added(monkeypatch):
    """To a mapping and to packed bytes alike; what data says itself stands, and bytes keep their blocks."""
    monkeypatch.setattr("viz.components.view.st.session_state", {"lang": "en"})
    mounted: list[Any] = []
    monkeypatch.setattr("viz.components.view._mount", lambda _, *, data, **rest: mounted.append(data))
    view = View("masks/growing", words="masks.growing.", colours=True)
    VIEWS.remove(view)
    view.mount(key="a", data={"n": 3}, words={"play": "Go"})
    view.mount(key="a", data=pack({"n": 3, "hues": "own"}, {"values": torch.arange(5.0)}).data)
    header, blocks = unpack(mounted[1])
    assert mounted[0]["n"] == header["n"] == 3 and mounted[0]["hues"] == palette() and header["hues"] == "own"
    assert mounted[0]["words"] == {**header["words"], "play": "Go"} and header["words"]["play"] != "Go"
    assert blocks["values"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["words", "hues", "sent"])
def test_view_names_are_reserved(monkeypatch, name):
    """Data with a name of its own for what every view is handed: the count of messages was once an answer's text."""
    monkeypatch.setattr("viz.components.view.st.session_state", {"lang": "en"})
    view = View("masks/growing", words="masks.growing.", sends={"choice": Text(9)}, colours=True)
    VIEWS.remove(view)
    with pytest.raises(ValueError, match=name):
        view.mount(key="a", data={name: "own"}, on={"choice": print})


def test_view_of_a_megabyte_is_ignored(app):
    """A state as large as Streamlit takes, of one view after the other."""
    for at, view in enumerate(SENDING):
        send(
            app, {f"view{at}": {name: {"value": "x" * (900_000 // len(view.sends)), "sent": 1} for name in view.sends}}
        )
        assert not app.exception
    assert not app.session_state["received"]


MESSAGE = re.compile(r'\.send\(\s*"(\w+)"')


def test_client_messages_are_declared():
    """The messages that a view's code sends are those that Python declares, and the other way round."""
    declared_kinds: dict[str, set[str]] = {}
    for view in VIEWS:
        declared_kinds.setdefault(view.name, set()).update(view.sends)
    sent_kinds: dict[str, set[str]] = {}
    for name in set(bundle.views()) - {"take_away/take_away"}:  # which has the grid's messages, and no Python behind it
        modules, _ = bundle._order_modules(bundle.CLIENT / f"{name}.js")
        texts = [module.read_text("utf8") for module in modules if module.parent.name != "lib"]
        code = "".join(text for text in texts if " extends View" in text or " extends LiveView" in text)
        sent_kinds[name] = set(MESSAGE.findall(code)) | ({"choice"} if "this.tell()" in code else set())
    assert {name: kinds for name, kinds in declared_kinds.items() if kinds} == {
        name: kinds for name, kinds in sent_kinds.items() if kinds
    }
