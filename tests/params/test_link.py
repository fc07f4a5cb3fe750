"""The link holds what the user chose: no default of this page or another one, and nothing is lost on the way."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages import PAGES
from tests.running import link_of, start_app
from tests.sections import link_to
from viz.frame.sidebar import file_of


def declared_values(app: AppTest) -> dict[str, Any]:
    """Every parameter of the page, and its value."""
    return {name: app.session_state[name] for name in app.session_state["_parameters"].declared}


def test_opening_pages_sets_nothing(open_app):
    app, fresh = open_app(PAGES[0]), {page: declared_values(open_app(page)) for page in PAGES}
    for page in (*PAGES, *PAGES[::-1]):  # each before every other one, and after it
        app.switch_page(file_of(page)).run()
        assert not app.exception
        assert link_of(app) == {}, page
        values = declared_values(app)  # a page may keep what was chosen elsewhere, too
        assert {name: values[name] for name in fresh[page]} == fresh[page], "each page opens at its own defaults"


def test_changed_values_follow_to_other_pages(open_app):
    """Values that the user set follow to other pages; defaults do not."""
    app = open_app("step_by_step", section="steps")
    app.selectbox(key="query").set_value(4).run()
    app.selectbox(key="query").set_value(13).run()
    fresh = open_app("step_by_step", query=13, section="steps")
    assert app.session_state["key"] == fresh.session_state["key"], "as the link shows it"
    assert link_of(app) == {"section": "steps", "query": "13"}
    for page, expected in (("heads", {"query": "13"}), ("cost", {}), ("masks", {"query": "13"})):
        app.switch_page(file_of(page)).run()
        assert link_of(app) == expected
    app = open_app("share_kv", source="words")  # there by default fewer key/value heads than heads
    app.switch_page(file_of("heads")).run()
    assert link_of(app) == {"source": "words"}
    assert app.session_state["n_kv_heads"] == app.session_state["n_heads"]


def test_value_reset_to_default_is_unset(open_app):
    app = open_app("heads")
    app.slider(key="layer").set_value(5).run()
    app.slider(key="layer").set_value(3).run()
    app.switch_page(file_of("step_by_step")).run()
    assert link_of(app) == {}


def test_value_out_of_range_elsewhere(open_app):
    """A value out of range on another page counts as set only if the user set it."""
    app = open_app("heads", source="words", text="a b c")
    app.select_slider(key="n_heads").set_value(1).run()  # one head: head 1, where a page begins, is not among them
    assert app.session_state["head"] == 0
    app.select_slider(key="n_heads").set_value(4).run()
    assert app.session_state["head"] == 1, "nobody chose head 0"
    app = open_app("heads", source="words", text="a b c", head=3)
    app.select_slider(key="n_heads").set_value(2).run()
    assert link_of(app)["n_heads"] == "2"
    assert app.session_state["head"] == 1, "the nearest there is"


def test_row_bars_lock_nothing_in_grid(open_app):
    app = open_app("heads", text="a b c", heads_view="row")
    assert app.selectbox(key="query").value == 0
    app.session_state["heads_view"] = "all_heads"
    assert link_of(app.run().run()) == {"text": "a b c"}
    assert app.session_state["query"] == -1
    all_sections = open_app("heads", text="a b c", section="all")
    assert link_of(all_sections.run().run()) == {"text": "a b c", "section": "all"}


def test_value_of_wrong_type_is_unset(open_app):
    """As a list leaves it whose option is not there any more: the grid could not be shown again, whatever was tried."""
    app = open_app("heads", query=5)
    for name, value in (("query", None), ("key", "the")):
        app.session_state[name] = value
        app.run()
        assert not app.exception and not app.error, name
        assert app.session_state[name] == open_app("heads").session_state[name]


@pytest.mark.parametrize(
    ("page", "name", "section"),
    [("heads", "off", "switched_off"), ("next_word", "cut", "switch_off"), ("share_kv", "off", "copying")],
)
def test_link_that_repeats_number_is_refused(open_app, page, name, section):
    """A control for several numbers chooses each once; twice the same head was added up twice."""
    default = open_app(page, **link_to(page, section)).session_state[name]
    app = open_app(page, **link_to(page, section), **{name: "1-1"})
    assert app.session_state[name] == default
    assert not [error.value for error in app.error]


def one_number() -> None:
    import streamlit as st

    from viz.params import Int, link
    from viz.params.session import of_session

    link.begin()
    of_session().open_page("page")
    st.text(Int("n", 1, high=9).read())
    st.text(of_session().is_back)
    link.end()


def test_link_with_new_note_is_believed():
    """A run that the same note asked for, or none, goes on with what is chosen."""
    app = start_app(one_number)
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
    app = start_app(one_number)
    was_back = []
    for note in ("a", "a", "b"):
        app.query_params["history"] = note
        was_back.append(app.run().text[1].value)
        assert not app.exception
    assert was_back == ["False", "False", "True"]


def one_slider() -> None:
    from viz.params import Int, link
    from viz.params.session import of_session

    link.begin()
    of_session().open_page("page")
    Int("n", 1, high=9).slider("n")
    link.end()


def test_late_value_leaves_back():
    """A run that the browser asks for before it has the answer to Back sends what was chosen before."""
    app = start_app(one_slider).run()

    def run(value: int, **note: str) -> int:
        app.query_params.clear()
        for name, text in note.items():
            app.query_params[name] = text
        app.slider(key="n").set_value(value).run()
        assert not app.exception
        assert "".join(link_of(app).get("n", "1")) == str(app.session_state["n"])
        return app.session_state["n"]

    assert run(5) == 5
    assert run(5, history="a") == 1
    assert run(5, history="a") == 1, "late"
    assert run(5, history="a") == 1, "late, and the second one"
    assert run(6, history="a") == 6, "moved meanwhile"
    assert run(1, history="b") == 1
    assert run(5) == 5, "chosen after the answer"


def parts_of_a_page() -> None:
    """A list that sets a number, and another number below: not with "c", and not if the run is interrupted or fails."""
    import streamlit as st

    from viz.params import Choice, Int, link
    from viz.params.session import begin_page, of_session

    link.begin()
    begin_page()
    of_session().open_page("page")
    fault = st.session_state.pop("_fault", "")
    n, m = Int("n", 1, high=9), Int("m", 1, high=9)
    letter = Choice("letter", among=("a", "b", "c"))
    letter.selectbox("letter", on_change=lambda: n.choose("abc".index(letter.value) + 5))
    n.slider("n")
    if fault == "interrupted":
        st.stop()
    if letter.value == "c":
        link.retain("m")
    elif fault == "failed":
        link.keep_unread()
    else:
        m.slider("m")
    link.end()


class Tab:
    """A browser that sends values, and beside its link the note of Back until that is answered."""

    def __init__(self) -> None:
        self.app = start_app(parts_of_a_page).run()

    def send(self, link: dict[str, str], fault: str = "", **values: Any) -> dict[str, Any]:
        """Have a page drawn that may be interrupted or fail; return the values that the session has then."""
        self.app.query_params.clear()
        for name, value in link.items():
            self.app.query_params[name] = value
        state = self.app.session_state
        state["_fault"] = fault
        widgets: dict[Any, Any] = {widget.key: widget for widget in (*self.app.slider, *self.app.selectbox)}
        for name, value in values.items():
            if name in widgets:
                widgets[name].set_value(value)
            else:  # it stands in the browser still
                state[name] = value
        self.app.run()
        assert not self.app.exception
        return {name: state[name] for name in ("letter", "n", "m") if name in state}

    def address(self) -> dict[str, str]:
        return {name: "".join(value) for name, value in link_of(self.app).items()}


BACK = {"letter": "b", "n": "2", "m": "3", "history": "x"}


@pytest.fixture
def tab() -> Tab:
    """A browser that has chosen "b", with which comes 6, and 4 and 5 instead of 6 and 1."""
    tab = Tab()
    assert tab.send({}, letter="b") == {"letter": "b", "n": 6, "m": 1}
    assert tab.send({}, n=4, m=5) == {"letter": "b", "n": 4, "m": 5}
    return tab


def test_interrupted_back_is_kept(tab):
    """Late values interrupt Back's run: those that it has read are set again, and the others are read from the link."""
    for _ in range(2):
        assert tab.send(BACK, "interrupted", n=4, m=5)["n"] == 2
    for _ in range(2):
        assert tab.send(BACK, n=4, m=5) == {"letter": "b", "n": 2, "m": 3}
        assert tab.address() == {"letter": "b", "n": "2", "m": "3"}


def test_failed_back_is_kept(tab):
    """A parameter of a section that Back's run could not draw stays in the link, and is read from it later."""
    for _ in range(2):
        assert tab.send(BACK, "failed", n=4, m=5) == {"letter": "b", "n": 2}
        assert tab.address() == {"letter": "b", "n": "2", "m": "3"}
    for _ in range(2):
        assert tab.send(BACK, n=4, m=5) == {"letter": "b", "n": 2, "m": 3}
        assert tab.address() == {"letter": "b", "n": "2", "m": "3"}


def test_late_value_of_undrawn_widget(tab):
    """A value that Back has reset on a page without its widget."""
    for _ in range(3):
        assert tab.send({"letter": "c", "n": "4", "history": "x"}, m=5) == {"letter": "c", "n": 4}
    assert tab.send({"letter": "c", "n": "4"}, letter="b") == {"letter": "b", "n": 6, "m": 1}


def test_late_callback_leaves_back():
    """A list that is sent as it was before Back calls its callback once more, which sets another parameter."""
    tab = Tab()
    tab.send({}, letter="b")
    for _ in range(3):
        assert tab.send({"history": "x"}, letter="b") == {"letter": "a", "n": 1, "m": 1}
        assert tab.address() == {}
