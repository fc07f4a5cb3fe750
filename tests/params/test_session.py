"""Crossed values: the server sets one while the browser sends the value before. Callbacks that redraw the page.

A run ends where its user has left, and a thread in the background is none.
"""

import threading
from functools import partial
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from streamlit.testing.v1 import AppTest

from tests import SAFETY_NET
from tests.running import start_app
from viz.params import Int, session
from viz.params.session import PAGE, SCENE, Fragments, Parameters, then_redraw


def page() -> None:
    """A text box and two buttons that write into it; another control."""
    import streamlit as st

    from viz.params import Text, link

    link.begin()
    text = Text("text", "first", longest=100)
    text.read()
    st.text_area("Text", key="text", persist_state="session")
    for name in ("second", "third"):
        st.button(name, on_click=lambda name=name: text.set(name))
    st.toggle("Other", key="other")
    st.text(text.value)
    link.end()


def displayed(app: AppTest, text: str) -> tuple[str, str]:
    """The value that the page was drawn with, and the content of the box, which was ``text`` before."""
    proto = app.text_area("text").proto
    return app.text[0].value, proto.value if proto.set_value else text


def test_crossed_value_is_sent_again():
    """The browser handles what it was sent first, and shows what it is sent last: what the page was drawn with."""
    app = start_app(page).run()
    app.button[0].click().run()
    assert displayed(app, "first") == ("second", "second")
    app.text_area("text").set_value("first")  # the message was on its way before "second" had come
    app.toggle("other").set_value(True).run()
    assert displayed(app, "second") == ("first", "first")
    assert app.query_params.get("text") is None


def test_twice_crossed_value_is_sent_again():
    """The browser may be two values behind."""
    app = start_app(page).run()
    app.button[0].click().run()
    app.button[1].click().run()
    app.text_area("text").set_value("second")
    app.toggle("other").set_value(True).run()
    assert displayed(app, "third") == ("second", "second")


def test_typed_value_is_left_alone():
    """To send it again would replace what is being typed meanwhile."""
    app = start_app(page).run()
    app.text_area("text").set_value("typed").run()
    assert not app.text_area("text").proto.set_value and app.text[0].value == "typed"
    app.button[0].click().run()
    app.toggle("other").set_value(True).run()
    app.text_area("text").set_value("more").run()
    assert not app.text_area("text").proto.set_value and app.text[0].value == "more"
    app.text_area("text").set_value("second").run()
    assert not app.text_area("text").proto.set_value, "once it has sent another it holds none of those"


@pytest.mark.parametrize(
    ("part", "reruns"),
    [((PAGE, SCENE, "section"), [SCENE, PAGE]), ((PAGE, SCENE), [PAGE]), ((PAGE,), []), ((), [])],
    ids=str,
)
def test_callback_redraws_dependent_page(monkeypatch, part, reruns):
    """A view of a section has what depends on the parameter that it changes drawn again, and else its section."""
    owners = {"m": (PAGE, SCENE, "section"), "k": (PAGE, SCENE), "n": (PAGE,)}
    record = Parameters(fragments=Fragments(part, owners, dict.fromkeys(owners, 1)))
    calls = []
    monkeypatch.setattr("streamlit.session_state", {"_parameters": record, **dict.fromkeys(owners, 1)})
    monkeypatch.setattr("streamlit.rerun", calls.append)
    for name in owners:
        then_redraw(partial(Int(name, high=9).set, 5))()
    assert calls == reruns


class LeftError(Exception):
    """The exception of Streamlit in a run whose user has left."""


def result_in_thread(call):
    """Return or raise the result of a call in its own thread, as every run of a script has one."""
    results = []

    def work():
        try:
            results.append(call())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(SAFETY_NET)
    return results[0]


def give_looks(monkeypatch, *looks):
    """Put a session's state in the place of Streamlit's, with the results of the looks into it."""
    state = MagicMock()
    state.__contains__.side_effect = looks
    monkeypatch.setattr(session, "st", SimpleNamespace(session_state=state))


def test_raise_if_left_reads_state(monkeypatch):
    """Streamlit ends the run of a user who has left where its script reads the session's state."""
    give_looks(monkeypatch, True, LeftError)
    ended = result_in_thread(lambda: session.is_run() and session.raise_if_disconnected())
    assert isinstance(ended, LeftError)


def test_background_thread_is_no_run(monkeypatch):
    """Streamlit is not asked, which would log a line in a thread without a run."""

    def work():
        session.mark_background()
        session.raise_if_disconnected()
        return session.is_run()

    give_looks(monkeypatch, LeftError)
    assert result_in_thread(work) is False


def test_thread_without_session_is_no_run():
    """The state of a thread without a run is empty."""
    assert result_in_thread(session.is_run) is False
