"""Random sequences of a user's actions: link, session and screen always agree."""

import json
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.running import link_of, start_app

SEQUENCES, ACTIONS = 8, 14
TEXTS = ("the cat saw it", "yes the cat saw it", "a b", "it saw the cat", "the the the the")


def page() -> None:
    """Two pages: the first has every kind of parameter, the second some, with a default and a scope of its own."""
    import json

    import streamlit as st

    from viz.params import Choice, Flag, Int, Ints, Real, Scope, Text, TokenIndex, link
    from viz.params.session import begin_page, of_session

    link.begin()
    begin_page()
    of_session().open_page(open_page := st.session_state["_open"])
    n = Int("n", 3 if open_page == "first" else 5, high=9)
    m = Int("m", 2, low=1, high=lambda n: n + 1)
    k = Int("k", 3, among=lambda n: [i for i in range(10) if i != n], nearest=True)
    letter = Choice("letter", among=("a", "b", "c"))
    on = Flag("on", True)
    some = Ints("some", high=4)
    real = Real("real", 0.5, low=0.0, high=1.0, scope=Scope(open_page))
    text = Text("text", "the cat saw it", longest=100)
    at = TokenIndex("at", high=lambda words: len(words) - 1, scope=Scope(lambda words: words))
    match st.session_state.pop("_does", None):
        case "reset":
            for parameter in (n, m, k, letter, on, some, real, text, at):
                parameter.forget()
        case ["set", name, value]:
            next(p for p in (n, letter, at) if p.name == name).set(value)
    values_: dict[str, object] = {"n": n.slider("n"), "letter": letter.selectbox("letter")}
    values_["real"] = real.slider("real", step=0.25)
    values_["text"] = text.text_box("text", draw=st.text_area)
    words = tuple(text.value.split())
    values_["at"] = at.number_input("at", words)
    if open_page == "first":
        values_ |= {"m": m.number_input("m", n.value), "on": on.toggle("on"), "some": some.multiselect("some")}
        values_["k"] = k.select_slider("k", n.value)
    else:
        link.retain("m", "k", "on", "some")
    link.end()
    st.code(json.dumps({"shown": values_, "session": {name: st.session_state[name] for name in values_}}))


def open_app(page_name: str, link: dict[str, str]) -> AppTest:
    app = start_app(page)
    app.session_state["_open"] = page_name
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def screen(app: AppTest) -> dict[str, Any]:
    """The value that each control shows."""
    controls = [*app.slider, *app.select_slider, *app.selectbox, *app.text_area, *app.number_input, *app.toggle]
    return {control.key: control.value for control in [*controls, *app.multiselect]}


def values(app: AppTest) -> dict[str, Any]:
    """The values that the page was drawn with."""
    assert not app.exception, app.exception
    printed_values: dict[str, dict[str, Any]] = json.loads(app.code[0].value)
    assert printed_values["shown"] == printed_values["session"]
    return printed_values["shown"]


@dataclass
class Browser:
    """A tab with its history: an entry for each link, with what was shown."""

    app: AppTest
    open_page: str = "first"
    entries: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    at: int = -1
    notes: int = 0
    reals: dict[str, float] = field(default_factory=dict)
    changed_names: set[str] = field(default_factory=set)

    def look(self) -> None:
        """Hold link, session and screen against each other, and note an entry where the link is new."""
        now = values(self.app)
        assert screen(self.app) == now
        self.reals[self.open_page] = now["real"]
        entry = self.open_page, link_of(self.app)
        assert entry[1].keys() <= self.changed_names, "nobody chose that"
        again = open_app(*entry)
        assert (values(again), link_of(again)) == (now, entry[1]), "the link shows the same in another session"
        if self.at < 0 or self.entries[self.at][:2] != entry:
            self.entries = [*self.entries[: self.at + 1], (*entry, now)]
            self.at += 1

    def go(self, places: int) -> None:
        """Go back or forward."""
        self.at = min(max(self.at + places, 0), len(self.entries) - 1)
        self.open_page, link, before = self.entries[self.at]
        self.notes += 1
        self.visit(link | {"history": str(self.notes)})
        assert values(self.app) == before, "what was shown there"

    def visit(self, link: dict[str, str]) -> None:
        """Have the address bar ask for a link, in this session."""
        self.app.session_state["_open"] = self.open_page
        self.app.query_params.clear()
        for name, value in link.items():
            self.app.query_params[name] = value
        self.app.run()

    def change_page(self) -> None:
        """Open the other page by its link in the sidebar."""
        self.open_page = {"first": "second", "second": "first"}[self.open_page]
        self.visit({})
        assert values(self.app)["real"] == self.reals.get(self.open_page, 0.5), "what was chosen for this page"

    def reload(self) -> None:
        """Begin another session with the same address."""
        before = values(self.app)
        self.app, self.reals = open_app(self.open_page, link_of(self.app)), {}
        assert values(self.app) == before

    def do(self, *action: Any) -> None:
        """Have the page itself set or reset parameters."""
        self.changed_names |= set(action[1:2])
        self.app.session_state["_does"] = [*action] if len(action) > 1 else action[0]
        self.app.run()

    def use(self, control: Any, value: Any) -> None:
        """Use a control."""
        self.changed_names.add(control.key)
        control.set_value(value).run()


def act(chance: random.Random, browser: Browser) -> str:
    """Do one thing, and return what it was."""
    app, n_words = browser.app, len(values(browser.app)["text"].split())
    does = {
        "slider": lambda: browser.use(app.slider(key="n"), chance.randint(0, 9)),
        "letter": lambda: browser.use(app.selectbox(key="letter"), chance.choice("abc")),
        "real": lambda: browser.use(app.slider(key="real"), chance.choice((0.0, 0.25, 0.5, 1.0))),
        "text": lambda: browser.use(app.text_area(key="text"), chance.choice(TEXTS)),
        "word": lambda: browser.use(app.number_input(key="at"), chance.randrange(n_words)),
        "set": lambda: browser.do("set", *chance.choice([("n", 5), ("n", 3), ("letter", "b"), ("at", 0)])),
        "back": lambda: browser.go(-chance.randint(1, 3)),
        "forward": lambda: browser.go(chance.randint(1, 2)),
        "page": browser.change_page,
        "reload": browser.reload,
        "reset": lambda: browser.do("reset"),
    }
    if browser.open_page == "first":
        does |= {
            "m": lambda: browser.use(app.number_input(key="m"), chance.randint(1, values(app)["n"] + 1)),
            "k": lambda: browser.use(app.select_slider(key="k"), (values(app)["n"] + chance.randint(1, 9)) % 10),
            "on": lambda: browser.use(app.toggle(key="on"), chance.random() < 0.5),
            "some": lambda: browser.use(app.multiselect(key="some"), chance.sample(range(5), chance.randint(0, 3))),
        }
    name = chance.choice([*does])
    does[name]()
    return name


@pytest.mark.fast("0")
@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_link_session_and_screen_agree(seed):
    """After every action the link, opened in another session, shows the same; Back and Forward show what was there."""
    chance, actions = random.Random(seed), []
    browser = Browser(open_app("first", {}))
    browser.look()
    try:
        for _ in range(ACTIONS):
            actions.append(act(chance, browser))
            browser.look()
    except AssertionError as error:
        raise AssertionError(f"{error} after {', '.join(actions)}") from error
