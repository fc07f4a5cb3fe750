"""The view options of a page are read from its link, strictly; all have defaults."""

import pytest

from tests.running import start_app
from viz.frame.view import View
from viz.modes.embed import MOST_HIDDEN

LINKS = {
    (): View(),
    (("present", "1"),): View(present=True),
    (("print", "1"),): View(print="worksheet"),
    (("print", "answers"), ("theme", "dark")): View(print="answers", theme="dark"),
    (("without", "text-chips-n_heads-text"),): View(hide=frozenset({"text", "chips", "n_heads"})),
    (("present", "2"), ("print", "<b>"), ("theme", "red"), ("without", "a b")): View(),
    (("without", "-".join(f"a{number}" for number in range(MOST_HIDDEN + 1))),): View(),
}


@pytest.fixture(scope="module")
def view_options():
    """The view of a link, read in a run of its own, without the app around it."""
    from streamlit.testing.v1 import AppTest

    def run() -> None:
        from viz.frame import modes
        from viz.modes import find
        from viz.params import link

        modes.install(find())
        link.begin()
        modes.read_view()
        link.end()

    def read(link: dict[str, str]) -> AppTest:
        app = start_app(run)
        for name, value in link.items():
            app.query_params[name] = value
        return app.run()

    return read


@pytest.mark.parametrize(("link", "expected"), LINKS.items(), ids=map(str, range(len(LINKS))))
def test_view_follows_link(view_options, link, expected):
    app = view_options(dict(link))
    assert not app.exception
    assert app.session_state["_view"] == expected
    assert app.run().session_state["_view"] == expected, "in the next run too"


def test_invalid_value_is_noted_and_dropped(view_options):
    """An invalid value of a link is noted and not written again."""
    app = view_options({"present": "yes", "print": "<b>", "theme": "dark"})
    assert sorted(app.session_state["_parameters"].refused) == ["present", "print"]
    assert {name: app.query_params[name] for name in app.query_params} == {"theme": "dark"}


def test_control_is_visible_unless_hidden():
    view = View(hide=frozenset({"layer"}))
    assert view.shows("head")
    assert not view.shows("layer")
