"""A user of the load test: opens a link, then types, selects heads, moves sliders, changes pages."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException

from bench.load.controls import Control, Value
from bench.load.models import pick_model
from bench.load.tab import Answer, Tab
from pages import FIRST, HEADS, PAGES
from viz import limits
from viz.frame.sidebar import path_of
from viz.text import LANGUAGES, sentences, translator

ROOT = Path(__file__).parents[2]
PATHS = {path_of(page): page for page in PAGES}
"""The pages that read a text, by their path."""
LIMITS = {
    translator(lang)(f"error.{code}", n=limits.QUEUE, seconds=seconds)
    for lang in LANGUAGES
    for code, seconds in (("crowded", 0), ("busy", limits.WAIT_SECONDS), ("late", limits.COMPUTATION_SECONDS))
}
"""Messages to a user who must come back in a minute: an answer, though not the one that was hoped for."""
WORDS = (
    "the", "a", "every", "no", "my", "some", "old", "red", "quick", "careful", "tired", "animal", "street", "teacher",
    "river", "money", "cat", "dog", "book", "window", "garden", "letter", "engine", "forest", "summer", "music",
    "question", "student", "apple", "mountain", "crossed", "wrote", "saw", "because", "while", "although", "and",
    "or", "chased", "ignored", "opened", "believed", "heard", "lost", "remembered", "it", "she", "they", "was",
    "were", "is", "too", "very", "never", "always", "slowly", "away", "in", "on", "under", "behind", "between",
    "without", "machine", "attention", "head", "layer", "token", "weight", "picture", "number",
)  # fmt: skip
THINK = 2.0, 6.0
"""Seconds between reading an answer and the next change."""
LONG, LONG_WORDS = 0.1, 505
"""Of the texts that are typed, how many are as long as any model here reads, and how long that is: 512 tokens."""
LEFT_ALONE = {"_example", "model", "text", "mistake"}
"""Chosen by actions of their own; the last has the core compute something wrong, for a check to find."""


@dataclass(frozen=True)
class Change:
    """One change of one user: the action, the page, the time and duration of the answer, and any fault."""

    kind: str
    page: str
    at: float
    seconds: float
    bytes: int = 0
    is_refused: bool = False
    error: str = ""
    long: bool = False
    """On a text of 512 tokens."""
    model: str = ""
    """The model whose numbers the page shows; "" where it has no model to choose."""
    link: str = ""
    """The parameters of the page, to open it again."""


@dataclass
class Visitor:
    """One of a class.

    Args:
        url: of the server.
        number: even ones stay with the examples, odd ones type sentences of their own.
        seed: of everything the user does.
        report: is told of every change.
        think: seconds between two changes, from and to.
        long: how many of the texts typed have 512 tokens.
        models: which models are chosen, in which shares; nobody chooses if there are none.
    """

    url: str
    number: int
    seed: int
    report: Callable[[Change], None]
    think: tuple[float, float] = THINK
    long: float = LONG
    models: Mapping[str, float] = field(default_factory=dict)
    chance: random.Random = field(init=False)
    reads_long: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(f"{self.seed}/{self.number}")

    async def stay(self, seconds: float) -> None:
        """Visit until the time is over; who is thrown out comes again by the link."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                async with Tab(self.url) as tab:
                    await self._visit(tab, until)
            except (TimeoutError, OSError, WebSocketException) as error:
                self._say("socket", "", time.monotonic(), error=f"{type(error).__name__}: {error}")
                await self._pause()

    async def _visit(self, tab: Tab, until: float) -> None:
        self.reads_long = False
        await self._do(tab, "open", lambda: tab.open(self.chance.choice(list(PATHS)), **self._link()))
        while time.monotonic() < until:
            await self._pause()
            kinds = [kind for kind in ACTIONS if kind != "model" or self.models]
            kind = self.chance.choices(kinds, [ACTIONS[kind][0] for kind in kinds])[0]
            if kind == "again":
                await tab.vanish() if self.chance.random() < 0.5 else await tab.close()
                return
            await self.act(tab, kind)

    async def act(self, tab: Tab, kind: str) -> None:
        """Change something of this kind, or the page if there is nothing of it here: for heads, to theirs."""
        values = ACTIONS[kind][1](self, tab)
        if not values:
            elsewhere = [path for path in tab.pages if path != tab.page]
            path = HEADS if kind == "head" and tab.page != HEADS else self.chance.choice(elsewhere)
            await self._do(tab, "page", lambda: tab.go(path))
        else:
            await self._do(tab, kind, lambda: tab.change(**values))

    async def _do(self, tab: Tab, kind: str, change: Callable[[], Any]) -> None:
        began = time.monotonic()
        try:
            answer: Answer = await change()
        except (TimeoutError, OSError, WebSocketException) as error:
            message = "no answer in time" if isinstance(error, TimeoutError) else f"{type(error).__name__}: {error}"
            self._say(kind, tab.page, began, error=message)
            raise
        model = str(tab.value("model")) if "model" in tab.controls else ""
        self.report(replace(judged(kind, tab.page, answer), long=self.reads_long, model=model, link=tab.query))

    def _say(self, kind: str, page: str, began: float, error: str) -> None:
        now = time.monotonic()
        self.report(Change(kind, PATHS.get(page, page), now, now - began, error=error, long=self.reads_long))

    async def _pause(self) -> None:
        await asyncio.sleep(self.chance.uniform(*self.think))

    def _link(self) -> dict[str, object]:
        source = self.chance.choice(("model", "model", "embeddings", "words"))
        parameters: dict[str, object] = {"text": self.sentence()} if self.number % 2 else {}
        if model := pick_model(self.chance, self.models, list(self.models)):
            parameters["model"] = model
        return {"source": source, **parameters} if source != "model" else parameters

    def sentence(self) -> str:
        """A text nobody typed before."""
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(5, 14))) + "."

    def long_text(self) -> str:
        """As long as any model here reads, and nobody's but this user's."""
        return " ".join(self.chance.choices(WORDS, k=LONG_WORDS))


def judged(kind: str, page: str, answer: Answer) -> Change:
    """An answer, and what is wrong with it: an exception, an error box that is no limit's, a page without its title."""
    is_limit = bool(answer.boxes) and set(answer.boxes) <= LIMITS
    wrong = [*answer.exceptions, *([] if is_limit else answer.boxes)]
    name = PATHS.get(page, page or FIRST)
    titles = {sentences(lang).get(f"{name}.{key}") for lang in LANGUAGES for key in ("title", "headline")}
    if not titles & set(answer.titles):
        wrong.append(f"the page shows {answer.titles} for a title")
    return Change(
        kind, PATHS.get(page, page), time.monotonic(), answer.seconds, answer.bytes, is_limit, "; ".join(wrong)
    )


def _header(control: Control) -> dict[str, Any]:
    """Header of a component's data: JSON in a list, or the JSON before its numbers (viz/components/head_grid.py)."""
    data = control.data
    header: dict[str, Any]
    if isinstance(data, str):
        (header,) = json.loads(data)
    else:
        header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return header


def _type(visitor: Visitor, tab: Tab) -> dict[str, Value]:
    if "text" not in tab.controls:  # a list, to look things up in
        return {}
    visitor.reads_long = visitor.chance.random() < visitor.long
    if visitor.reads_long:
        return {"text": visitor.long_text()}
    if visitor.number % 2:
        return {"text": visitor.sentence()}
    return {"_example": visitor.chance.choice(tab.controls["_example"].options)}


def _model(visitor: Visitor, tab: Tab) -> dict[str, Value]:
    if "model" not in tab.controls:
        return {}
    model = pick_model(visitor.chance, visitor.models, tab.controls["model"].options)
    return {"model": model} if model else {}


def _head(visitor: Visitor, tab: Tab) -> dict[str, Value]:
    """A head of the grid, where there is one."""
    if "grid" not in tab.controls:
        return {}
    wall, now = _header(tab.controls["grid_wall"]), _header(tab.controls["grid"])
    layer, head = visitor.chance.randrange(wall["n_layers"]), visitor.chance.randrange(wall["n_heads"])
    query = visitor.chance.randrange(wall["n_queries"])
    choice = {**now["choice"], "layer": layer, "head": head, "query": query}
    return {"grid": {"choice": {"value": choice, "sent": now["sent"] + 1}}}


def _slide(visitor: Visitor, tab: Tab) -> dict[str, Value]:
    """A slider goes to any place it has."""
    controls = [
        control
        for control in tab.controls.values()
        if control.kind in ("slider", "number") and control.span[1] > control.span[0]
    ]
    if not controls:
        return {}
    control = visitor.chance.choice(controls)
    low, high, step = control.span
    steps = min(int((high - low) / (step or 1)), 10_000)
    return {control.key: low + visitor.chance.randint(0, steps) * (step or 1)}


def _choose(visitor: Visitor, tab: Tab) -> dict[str, Value]:
    """One of several options, or a switch."""
    controls = [
        control for control in tab.controls.values()
        if control.key not in LEFT_ALONE and (len(control.options) > 1 or control.kind == "flag")
    ]  # fmt: skip
    if not controls:
        return {}
    control = visitor.chance.choice(controls)
    if control.kind == "flag":
        return {control.key: not tab.value(control.key)}
    option = visitor.chance.choice(control.options)
    return {control.key: option if control.kind == "one" else [option]}


ACTIONS: dict[str, tuple[float, Callable[[Visitor, Tab], dict[str, Value]]]] = {
    "text": (0.22, _type),
    "head": (0.20, _head),
    "slider": (0.22, _slide),
    "choice": (0.16, _choose),
    "page": (0.18, lambda *_: {}),
    "again": (0.02, lambda *_: {}),
    "model": (0.04, _model),
}
"""Actions of a user with their frequency and values; where there is nothing to set, the page is changed."""
