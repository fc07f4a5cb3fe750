"""A shared address opens the same page: fifty states of controls, and a few pages' numbers."""

import random
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.running import start_app
from viz.frame.links.address import LONGEST, code_rows, is_local

CHANCE = random.Random(18)
TEXTS = ("a & b = c?", "这只动物没有过马路，它太累了。", "# +%20 <b>\n\ttwo lines", "😀 ﷽", "")


def random_state() -> dict[str, Any]:
    """A value for every kind of control."""
    return {
        "text": CHANCE.choice(TEXTS),
        "layer": CHANCE.randrange(12),
        "alpha": CHANCE.choice([0.1, 2.5, 1e-7, 3.0, CHANCE.random()]),
        "mask": CHANCE.choice(["own", "causal", "window"]),
        "d_model": CHANCE.choice([8, 16, 384]),
        "merge": CHANCE.random() < 0.5,
        "several": sorted(CHANCE.sample(range(72), CHANCE.randrange(4))),
        "without": "-".join(CHANCE.sample(["text", "chips", "n_heads"], CHANCE.randrange(3))),
    }


def run() -> None:
    """Declare what is chosen, as pages do, and say where it is to be found."""
    import streamlit as st

    from viz.frame import modes
    from viz.frame.links.address import address
    from viz.modes import find
    from viz.params import Choice, Flag, Int, Ints, Real, Text, link

    modes.install(find())
    link.begin()
    modes.read_view()
    st.session_state["_found"] = {
        "text": Text("text", "the default", longest=4_000).read(),
        "layer": Int("layer", 3, high=11).read(),
        "alpha": Real("alpha", 2.0, high=9.0).read(),
        "mask": Choice("mask", among=("own", "causal", "window")).read(),
        "d_model": Int("d_model", 16, among=(8, 16, 384)).read(),
        "merge": Flag("merge").read(),
        "several": Ints("several", high=71).read(),
    }
    st.session_state["_address"] = address(lang="en")
    link.end()


def test_fifty_states_reopen_as_they_were(open_app):
    assert open_app, "with it, what the harness looks up for each run is looked up once"
    app = start_app(run).run()
    for _ in range(50):
        expected = random_state()
        for name, value in expected.items():
            app.session_state[name] = value
        app.run()
        omitted = expected.pop("without")
        assert app.session_state["_found"] == expected
        fresh = start_app(run)
        for name, value in parse_qsl(app.session_state["_address"].partition("?")[2], keep_blank_values=True):
            fresh.query_params[name] = value
        fresh.run()
        assert fresh.session_state["_found"] == expected
        assert fresh.session_state["without"] == "", f"how it was looked at is not passed on: {omitted}"


def test_code_equals_the_address():
    rows = code_rows("https://example.org/heads?layer=3")
    assert len(rows) == len(rows[0]) == 29
    assert rows[0][:7] == "1111111", "the corner that a camera looks for"
    assert code_rows("https://example.org/?text=" + "x" * LONGEST) == ()


@pytest.mark.parametrize(
    ("address", "local"),
    [("http://localhost:8501/heads", True), ("http://[::1]/", True), ("https://a.example/", False)],
)
def test_local_address_is_recognised(address, local):
    assert is_local(address) == local
