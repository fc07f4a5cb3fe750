"""Lists whose options change: a browser shows a label of the new options, and the one that the page was drawn with.

A browser keeps the label that was chosen, not its place, until the server sends it another one.
"""

import ast
from collections.abc import Collection, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bench.load.controls import READ
from tests.running import all_elements
from tests.sections import SECTIONS
from viz import ROOT

TEXT, SAME_LENGTH, LONGER = "a b", "sun moon", "The old sailor mended his net before the storm came."
LISTS = {
    "Selectbox": "selectbox",
    "Radio": "radio",
    "ButtonGroup": "button_group",
    "MultiSelect": "multiselect",
    "Slider": "slider",
}
"""The name in a message of a control with options, by its class."""
CHANGES: tuple[dict[str, Any], ...] = (
    {"text": SAME_LENGTH},
    {"lang": "zh"},
    {"source": "words", "text": LONGER},
    {"n_heads": 2, "text": TEXT},
)
"""Changes of a user, one after the other."""


def lists(app: AppTest) -> Iterator[tuple[Any, Any]]:
    """Yield every control that has options, with what the browser is sent of it."""
    for element in all_elements(app):
        kind = LISTS.get(type(getattr(element, "proto", None)).__name__, "")
        values = READ[kind](element.proto) if kind else {}
        if values.get("options") and element.key:
            yield element, values


def labels_of(app: AppTest, element: Any) -> list[str]:
    """Return the labels of what the page was drawn with."""
    value = app.session_state[element.key]
    values = list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return [str(element.format_func(option)) for option in values]


class Screen:
    """The labels that a browser shows in every list of a page."""

    def __init__(self) -> None:
        self.labels: dict[str, list[str]] = {}

    def show(self, app: AppTest, changed_keys: Collection[str] = ()) -> None:
        """Show what a run has sent, and what the user has chosen before it."""
        labels = {}
        for element, values in lists(app):
            value = values["value"]
            indices = value if isinstance(value, list) else [] if value is None else [value]
            is_kept = element.key in self.labels and not element.proto.set_value
            displayed = labels_of(app, element) if element.key in changed_keys else self.labels.get(element.key, [])
            labels[element.key] = displayed if is_kept else indices
        self.labels = labels

    def wrong(self, app: AppTest) -> list[str]:
        """Return the lists that show another label than that of the value that the page was drawn with."""
        return [
            f"{element.key}: {self.labels[element.key]} for {labels_of(app, element)}"
            for element, about in lists(app)
            if self.labels[element.key] != labels_of(app, element)
            or not set(self.labels[element.key]) <= set(about["options"])
        ]


@pytest.mark.fast("masks-decoding", "heads-all_heads", "positions-sinusoids")
@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_lists_after_change_show_new_labels(open_app, page, section):
    """Text, language, source and number of heads change one after the other, in every section."""
    app, screen = open_app(page, section=section, text=TEXT, lang="en"), Screen()
    screen.show(app)
    assert not screen.wrong(app)
    for change in CHANGES:
        for name, value in change.items():
            if name in app.session_state:
                app.session_state[name] = value
        app.run()
        assert not app.exception, change
        screen.show(app, change)
        assert not screen.wrong(app), change


def test_lists_are_drawn_by_one_module():
    """A list elsewhere would keep its old label; one that only acts (``index=None``) has none to keep."""
    kinds, calls = {"selectbox", "multiselect", "radio", "select_slider"}, []
    for path in [*(ROOT / "pages").rglob("*.py"), *(ROOT / "viz").rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text("utf8"))):
            functions = (
                [call.func, *call.args] if isinstance(call, ast.Call) else []
            )  # called, or handed to what calls it
            if {*map(ast.unparse, functions)} & {f"st.{kind}" for kind in kinds}:
                acts = any(option.arg == "index" and ast.unparse(option.value) == "None" for option in call.keywords)
                calls += [] if acts else [path.relative_to(ROOT).as_posix()]
    assert set(calls) <= {"viz/params/parameter.py", "viz/params/kinds.py"}
