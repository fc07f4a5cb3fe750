"""A parameter: refusals of its rule, the owner of its value, and variants."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.running import start_app
from viz.params import Int, Scope


def kinds() -> None:
    """A parameter of each kind, and the names in the link that were refused."""
    import streamlit as st

    from viz.params import Choice, Flag, Int, Ints, Real, Scope, Text, TokenIndex, link

    link.begin()
    read = {
        "int": Int("int", 3, low=1, high=lambda most: most).read(9),
        "among": Int("among", 16, among=(8, 16)).read(),
        "real": Real("real", 0.5, high=1.0).read(),
        "step": Real("step", 0.3, among=(0.1, 0.3)).read(),
        "code": Choice("code", among=("a", "b")).read(),
        "flag": Flag("flag").read(),
        "text": Text("text", "default", allows=lambda text: "!" not in text).read(),
        "ints": Ints("ints", high=4).read(),
        "at": TokenIndex("at", low=-1, high=lambda words: len(words) - 1, scope=Scope(tuple)).read(("a", "b")),
    }
    st.session_state["_refused"], st.session_state["_read"] = link.take_invalid_names(), read
    link.end()


RULES = {
    "int": ("9", 9, ("10", "0", "1.5")),
    "among": ("8", 8, ("9", "", "x")),
    "real": ("0.25", 0.25, ("1.5", "nan", "x")),
    "step": ("0.1", 0.1, ("0.2", "inf", "")),
    "code": ("b", "b", ("c", "", "ab")),
    "flag": ("1", True, ("x", "", "on")),
    "text": ("typed", "typed", ("no!", "!", "a!b")),
    "ints": ("0-4", [0, 4], ("5", "1-1", "x")),
    "at": ("1", 1, ("2", "-2", "b")),
}
"""By name: what a link may ask for, what that is, and what is refused."""


def open_kinds(values: dict[str, str]) -> AppTest:
    app = start_app(kinds)
    for name, value in values.items():
        app.query_params[name] = value
    return app.run()


def test_link_value_by_rule_believed():
    app = open_kinds({name: value for name, (value, _, _) in RULES.items()})
    assert app.session_state["_read"] == {name: expected for name, (_, expected, _) in RULES.items()}
    assert app.session_state["_refused"] == []


@pytest.mark.parametrize("which", range(3))
def test_link_value_against_rule_refused(which):
    """The parameter is at its default, and is named."""
    app = open_kinds({name: values[which] for name, (_, _, values) in RULES.items()})
    assert app.session_state["_read"] == {
        "int": 3, "among": 16, "real": 0.5, "step": 0.3, "code": "a", "flag": False,
        "text": "default", "ints": [], "at": 0,
    }  # fmt: skip
    assert app.session_state["_refused"] == sorted(RULES)


def scopes() -> None:
    """Three parameters of an owner that the test names: shared, kept apart, and forgotten."""
    import streamlit as st

    from viz.params import Int, Scope, link

    link.begin()
    owner = st.session_state["_owner"]
    ways = {"shared": None, "apart": Scope(lambda owner: owner), "forgotten": Scope(lambda owner: owner, keeps=False)}
    parameters = [Int(name, 1, high=9, scope=scope) for name, scope in ways.items()]
    read = {parameter.name: parameter.read(owner) for parameter in parameters}
    if st.session_state.pop("_chooses", False):
        for parameter in parameters:
            parameter.choose(5)
    st.session_state["_read"] = read
    link.end()


def test_scope_gives_owner_its_value():
    """Another owner begins at the default; back with the first, only a scope that keeps has what was chosen."""
    app = start_app(scopes)
    app.session_state["_owner"], app.session_state["_chooses"] = "one page", True
    app.run().run()
    assert app.session_state["_read"] == {"shared": 5, "apart": 5, "forgotten": 5}
    app.session_state["_owner"] = "other page"
    assert app.run().session_state["_read"] == {"shared": 5, "apart": 1, "forgotten": 1}
    app.session_state["_owner"] = "one page"
    assert app.run().session_state["_read"] == {"shared": 5, "apart": 5, "forgotten": 1}


def test_variant_leaves_parameter_as_it_is():
    layer = Int("layer", 3, high=9)
    variant = layer.variant(default=5, scope=Scope("page"))
    assert (layer.default, layer.scope, layer.high) == (3, None, 9)
    assert (variant.name, variant.default, variant.high) == ("layer", 5, 9)
