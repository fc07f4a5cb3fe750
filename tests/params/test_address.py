"""Back and Forward are known by the browser's note in the address, another one each time."""

import pytest
from streamlit.testing.v1 import AppTest

from viz.params.session import Parameters


def one_number() -> None:
    import streamlit as st

    from viz.params import Int, link
    from viz.params.session import of_session

    link.begin()
    of_session().path = "page"
    st.text(Int("n", 1, high=9).read())
    link.end()


@pytest.mark.usefixtures("links_written")
def test_link_with_new_note_is_believed():
    """A run that the same note asked for, or none, goes on with what is chosen."""
    app = AppTest.from_function(one_number)
    app.query_params["n"], app.query_params["history"] = "3", "a"
    app.run()
    assert (app.text[0].value, dict(app.query_params)) == ("3", {"n": "3"}), "no link that is written has a note"
    for link, expected in (
        ({"n": "5", "history": "b"}, "5"),
        ({"n": "7", "history": "b"}, "5"),
        ({"n": "7"}, "5"),
        ({"history": "c"}, "1"),
        ({"n": "7", "history": "d"}, "7"),
    ):
        app.query_params.clear()
        for name, value in link.items():
            app.query_params[name] = value
        app.run()
        assert app.text[0].value == expected, link
        assert dict(app.query_params) in ({"n": expected}, {"n": [expected]}, {} if expected == "1" else None)


def test_first_note_is_no_back():
    """A link that is opened with a note is a link."""
    parameters = Parameters()
    parameters.note_history("a", is_first=True)
    assert not parameters.is_back
    parameters.note_history("a", is_first=False)
    assert not parameters.is_back
    parameters.note_history("b", is_first=False)
    assert parameters.is_back
