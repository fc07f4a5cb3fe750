"""Below the sentence of the start page: what a word takes along, all heads, and what a model says next.

The numbers of the example are on file; those of the user's own sentence are computed when the user comes to them.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

from pages.start.sentences import WEIGHT_UNITS
from viz import ASSETS
from viz.components import kinds
from viz.components.view import View, palette
from viz.errors import ModelError
from viz.frame.connection import loading
from viz.frame.sidebar import path_of
from viz.text import translator

FILE = ASSETS / "start_story.json"
KEY = "story"
STORY = View("start/story", words="start.story_", sends={"asked": kinds.Flag()})
LINKS = {
    "takes": ("heads", {"section": "arrivals"}),
    "heads": ("heads", {"section": "all_heads"}),
    "next": ("next_word", {"section": "next_word"}),
}
"""The page that each part opens with the sentence."""


@cache
def stories_on_file() -> Mapping[str, list[Mapping[str, Any]]]:
    """Return the numbers on file, of both sentences of each language; ``python -m tools.start`` writes them."""
    stories: Mapping[str, list[Mapping[str, Any]]] = json.loads(FILE.read_text("utf8"))
    return stories


def draw(lang: str, pair: Mapping[str, Any]) -> None:
    """Draw the parts if the browser has asked for them: it does when a user comes near."""
    data: dict[str, Any] = {"stories": []}
    if STORY.last(KEY, "asked"):
        data |= {name: pair[name] for name in ("layer", "head", "query", "at")}
        data |= {"whole": WEIGHT_UNITS, "hues": dict(palette())}
        try:
            data["stories"] = [_with_links(lang, pair, part) for part in _stories(lang, pair)]
        except ModelError as error:
            loading.module("viz.frame.scene").say_error(translator(lang), error)
    STORY.mount(key=KEY, data=data, on={"asked": lambda _: None})


def _stories(lang: str, pair: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if not pair["made"]:
        return [{**pair["sentences"][0], **loading.module("pages.start.own_sentence").read_story(pair)}]
    stories = zip(pair["sentences"], stories_on_file()[lang], strict=True)
    return [{**sentence, **story, "writes": True} for sentence, story in stories]


def _with_links(lang: str, pair: Mapping[str, Any], story: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add the address of each part's page; the decoder's has the text that it goes on from."""
    shared = {"lang": lang, "text": story["text"], "model": pair["model"], "layer": pair["layer"], "head": pair["head"]}
    texts = {"takes": shared, "heads": shared, "next": {"lang": lang}}
    if after := story["next"]:
        texts["next"] |= {"text": after["prompt"], "model": after["model"]}
    links = {
        name: f"{path_of(page)}?{urlencode({**texts[name], **section})}" for name, (page, section) in LINKS.items()
    }
    return {**story, "links": links}
