"""Every kind of control on the public server: screen, link and computation have the same value."""

import ast
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bench.load.controls import Control, Value
from bench.load.tab import Answer, Tab
from tests.browser.drive import ROOT, Server, open_chip, serve, wait_run


def widget_option(name: str) -> tuple[str, bool] | None:
    """Return the option by which an element of Streamlit's is a widget, and whether it is one without it."""
    method = getattr(DeltaGenerator, name)
    parameters = inspect.signature(method).parameters.values() if callable(method) else ()
    options = [
        (parameter.name, parameter.default != "ignore") for parameter in parameters if parameter.name.startswith("on_")
    ]
    return options[0] if options else None


def widget_of(call: ast.Call) -> str:
    """Return which widget a call draws, hands on (``draw=st.text_area``, ``draw(st.pills)``) or names, else ""."""
    if ast.unparse(call.func).startswith("partialmethod") and isinstance(call.args[-1], ast.Constant):
        return str(call.args[-1].value)  # a method of a parameter
    functions = [call.func, *call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "draw")]
    return next((keyword.attr for keyword in reversed(functions) if isinstance(keyword, ast.Attribute)), "")


def kinds_of_widgets() -> set[str]:
    """Return the kinds of widgets that the pages and the frame draw, by Streamlit's names."""
    widgets = {name: option for name in dir(DeltaGenerator) if name[0] != "_" and (option := widget_option(name))}
    widgets["component"] = "", True
    kinds = set()
    for file in [ROOT / "app.py", *ROOT.glob("pages/**/*.py"), *ROOT.glob("viz/**/*.py")]:
        for call in ast.walk(ast.parse(file.read_text("utf8"))):
            if isinstance(call, ast.Call) and (kind := widget_of(call)) in widgets:
                arguments = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
                name, is_always = widgets[kind]
                if arguments.get(name, "" if is_always else "'ignore'") != "'ignore'":
                    kinds.add(kind + " several" * (arguments.get("selection_mode") == "'multi'"))
    return kinds


Act = Callable[[Page, str], Any]
STEP_UP = "[data-testid=stNumberInputStepUp]"


def box(page: Page, key: str) -> Locator:
    """A control, by its key."""
    return page.locator(f".st-key-{key}")


def type_into(value: str, last_key: str = "Enter") -> Act:
    """Replace the text in a box."""

    def act(page: Page, key: str) -> None:
        typed_in = box(page, key).locator("input, textarea")
        typed_in.click()
        typed_in.press("Control+a")
        typed_in.press_sequentially(value)
        typed_in.press(last_key)

    return act


def press(key_name: str, part: str = "input[type=range]") -> Act:
    """Press a key on a part of the control, a slider's thumb if no other."""
    return lambda page, key: box(page, key).locator(part).press(key_name)


def click(part: str) -> Act:
    """Click a part of the control."""
    return lambda page, key: box(page, key).locator(part).click()


def click_options(*texts: str) -> Act:
    """Click options that are all on the screen."""

    def act(page: Page, key: str) -> None:
        for text in texts:
            box(page, key).get_by_text(text, exact=True).click()

    return act


def in_chip(name: str, act: Act) -> Act:
    """Set a control that stands in a chip."""

    def act_in_chip(page: Page, key: str) -> None:
        open_chip(page, name)
        act(page, key)

    return act_in_chip


def pick_from_list(option: str) -> Act:
    """Pick an option of a list that opens: by its name, after which the list has no need to be scrolled."""

    def act(page: Page, key: str) -> None:
        box(page, key).get_by_role("combobox").fill(option)
        page.get_by_role("option", name=option, exact=True).click()

    return act


def pick_from_menu(option: str) -> Act:
    """Pick an option of a menu behind a button."""

    def act(page: Page, key: str) -> None:
        box(page, key).get_by_role("button").click()
        page.get_by_role("menuitem", name=option, exact=True).click()

    return act


def upload(name: str, text: bytes) -> Act:
    """Upload a plain text."""
    file: Any = {"name": name, "mimeType": "text/plain", "buffer": text}
    return lambda page, key: box(page, key).locator("input[type=file]").set_input_files(file)


Read = Callable[[Locator], str | None]


def typed_value(control: Locator) -> str:
    """The text of a box, or of a list that is closed."""
    return control.locator("input, textarea").input_value()


def selected_value(control: Locator) -> str:
    """The buttons that are pressed."""
    return ", ".join(control.locator("button:is([aria-checked=true], [aria-pressed=true])").all_inner_texts())


def opened_tab(control: Locator) -> str:
    """The tab of the section that is open."""
    return selected_value(box(control.page, "section"))


def tags(control: Locator) -> str:
    """The options that stand in a box for several."""
    return ", ".join(control.locator("[data-tag]:visible").all_inner_texts())


def is_on(control: Locator) -> str:
    """ "True" of a switch that is on."""
    return str(control.locator("input").is_checked())


def text_of(part: str) -> Read:
    """The text of a part of the control."""
    return lambda control: control.locator(part).inner_text()


def attribute(part: str, name: str) -> Read:
    """An attribute of a part of the control."""
    return lambda control: control.locator(part).get_attribute(name)


at_thumb, checked_value = text_of("[data-testid=stSliderThumbValue]"), text_of("label:has(input:checked)")


@dataclass(frozen=True)
class Case:
    """A control of a page.

    Args:
        page: a link to it.
        key: the control's.
        act: sets it.
        read: reads it from the screen.
        on_screen: what then stands there.
        in_link: its value in the link; None for what no link holds.
        computed: where the server has used the value.
    """

    page: str
    key: str
    act: Act
    read: Read
    on_screen: str
    in_link: str | None
    computed_text: str


MEMORY, HEAD = "cost?section=growth&view=memory", '[aria-label="layer 2, head 5"]'
SLIPS = "convolution?section=slips"
COPYING = "share-kv?section=converted&view=copying"
SHAPES = "text=Q: (4, 3, 4)"
CASES: dict[str, list[Case]] = {
    "number_input": [
        Case(MEMORY, "cost_n", type_into("700"), typed_value, "700", "700", "text=For 700 tokens and 8"),
        Case(MEMORY, "cost_n", click(STEP_UP), typed_value, "513", "513", "text=For 513 tokens and 8"),
    ],
    "slider": [
        Case("positions?section=rope", "rope_shift", press("ArrowRight"), at_thumb, "1", "1", "text=at position 4"),
        Case("step-by-step?section=ablation", "temperature", press("ArrowRight"), at_thumb, "1.10", "1.1",
             "text=t = 1.1"),
    ],
    "select_slider": [
        Case(MEMORY, "cost_h", press("ArrowRight"), at_thumb, "16", "16", "text=512 tokens and 16"),
    ],
    "radio": [
        Case("share-kv?text=a+b+c", "source", in_chip("source", click_options("Your words")), checked_value,
             "Your words", "words", SHAPES),
    ],
    "selectbox": [
        Case("cost?section=models", "cost_model", pick_from_list("gpt2"), typed_value, "gpt2", "gpt2",
             "text=In gpt2 attention takes at least as many FLOPs"),
    ],
    "segmented_control": [
        Case("convolution?section=picture&kernel=random", "k", click_options("5 × 5"), selected_value, "5 × 5", "5",
             "text=torch's Conv2d (5 × 5"),
    ],
    "pills": [
        Case(SLIPS, "slip", click_options("Too narrow"), selected_value, "Too narrow", "width",
             "text=What passes has at most rank d_v = 2"),
    ],
    "pills several": [
        Case("heads?section=switched_off", "off", click_options("head 2", "head 5"), selected_value, "head 2, head 5",
             "2-5", "text=vector changes, on average, by 27.0%"),
    ],
    "multiselect": [
        Case("next-word?section=switch_off&model=twin-g8", "cut", pick_from_list("1·3"), tags, "0·0, 0·1, 1·3",
             "0-1-11", "text=With 3 heads off"),
    ],
    "toggle": [Case("cost?section=heads", "cost_fixed", click("label"), is_on, "True", "1", "text=With d_k fixed")],
    "text_area": [
        Case("share-kv?source=words", "text", type_into("one two three", "Control+Enter"), typed_value, "one two three",
             "one two three", SHAPES),
    ],
    "text_input": [
        Case(COPYING, "words", type_into("the dog the okapi"), typed_value, "the dog the okapi",
             "the dog the okapi", "text=okapi"),
    ],
    "file_uploader": [
        Case("long-text?source=words&long_from=file", "_long_file", upload("seven.txt", b"a b c d e f g"),
             text_of("[data-testid=stFileChipName]"), "seven.txt", None, "text=7 tokens were read"),
    ],
    "button": [
        Case("step-by-step?section=steps&step=3", "next", click("button"), text_of("button p"), "Next", None,
             "text=/^4[.] /"),
    ],
    "menu_button": [
        Case("cost", "_more", pick_from_menu("Paths"), opened_tab, "Paths", "paths", ".st-key-section_paths .paths"),
    ],
    "popover": [
        Case("cost", "_share", press("Enter", "button"), attribute("button", "aria-expanded"), "true", None,
             ".st-key-share_panel input"),
    ],
    "expander": [
        Case("atlas", "_atlas_all_map", click("summary"), attribute("details", "open"), "", None,
             ".st-key-_atlas_all_map [data-testid=stDataFrame]"),
    ],
    "component": [
        Case("heads", "grid", click(HEAD), attribute(".thumb.chosen", "aria-label"), "layer 2, head 5", "2",
             ".st-key-chip_head :text('head 5')"),
    ],
}  # fmt: skip
LINKED = {"component": "layer", "menu_button": "section"}
"""The parameter of the link that a kind changes, where it is not called like the control."""
NOT_OF_THE_CLIENT = ("button", "menu_button", "file_uploader", "popover", "expander")
"""Kinds that the load test's client does not set."""


def test_every_kind_of_control_has_case():
    """A kind that is new in the app has to be set here by a browser, too."""
    assert kinds_of_widgets() == set(CASES)


def value_of(control: Control, state: WidgetState) -> Value:
    """The value that a browser reports, as the load test's client has it."""
    value: Any = getattr(state, state.WhichOneof("value") or "", None)
    if control.kind == "component":
        return json.loads(value)
    if control.kind == "slider":
        return value.data[0]
    return list(value.data) if hasattr(value, "data") else value


@dataclass
class Comparison:
    """A browser's connection, which the load test's client follows: it sets what the browser's user sets."""

    client: Tab = field(default_factory=lambda: Tab(""))
    changed_keys: set[str] = field(default_factory=set)
    """The controls that the browser has reported another value of, by their keys."""
    differences: dict[str, tuple[WidgetState | None, WidgetState | None]] = field(default_factory=dict)
    """By key, where the browser and the client have not reported the same value in the same way."""

    def follow(self, page: Page) -> None:
        """Follow the connections that a page opens from now on."""
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._receive)
        socket.on("framesent", self._compare)

    def _receive(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.client._take(ForwardMsg.FromString(message), Answer())

    def _compare(self, message: str | bytes) -> None:
        message_ = BackMsg.FromString(message) if isinstance(message, bytes) else BackMsg()
        if message_.WhichOneof("type") != "rerun_script":
            return
        reported = {widget.id.split("-", 2)[2]: widget for widget in message_.rerun_script.widget_states.widgets}
        before = self._of_client()
        for key, control in self.client.controls.items():
            if key in reported and reported[key] != before.get(key):
                self.changed_keys.add(key)
                self.client.choose(control, value_of(control, reported[key]))
        expected = self._of_client()
        for key in expected.keys() | reported.keys():
            if expected.get(key) != reported.get(key):
                self.differences[key] = reported.get(key), expected.get(key)

    def _of_client(self) -> dict[str, WidgetState]:
        return {widget.id.split("-", 2)[2]: widget for widget in self.client._state("").widget_states.widgets}


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(ROOT / "serve.py", tmp_path_factory.mktemp("hosted") / "log.txt") as running:
        yield running


CASES_BY_KIND = [
    pytest.param(kind, case, id=f"{kind}-{case.key}-{at}")
    for kind, cases in CASES.items()
    for at, case in enumerate(cases)
]


@pytest.mark.parametrize(("kind", "case"), CASES_BY_KIND)
def test_value_on_screen_is_computed_with(hosted, new_page, kind, case):
    """The value stands on the screen, in the link and in what the server has computed, and the client reports it so."""
    page, comparison = new_page(), Comparison()
    comparison.follow(page)
    page.goto(f"{hosted.url}/{case.page}")
    wait_run(page)
    assert comparison.changed_keys == set(), "the client knows what every control stands at"
    case.act(page, case.key)
    wait_run(page)
    expect(page.locator(case.computed_text).first).to_be_visible()
    assert case.read(box(page, case.key)) == case.on_screen
    if case.in_link is not None:
        assert parse_qs(urlparse(page.url).query)[LINKED.get(kind, case.key)] == [case.in_link]
    assert comparison.differences.keys() <= ({case.key} if kind in NOT_OF_THE_CLIENT else set()), comparison.differences
