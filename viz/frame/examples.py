"""Sentences to start from, and what to look for in them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from viz import ASSETS
from viz.frame import specs
from viz.frame.available_models import models_here
from viz.frame.shared import HEAD, LAYER, MODEL, SOURCE, TEXT
from viz.models import registry
from viz.params import Parameter
from viz.params.memory import Remembered
from viz.params.session import of_session
from viz.text import isolate

_STASHED_TEXT: Remembered[str | None] = Remembered("_text_aside", default=None)
_STASHED_MODEL: Remembered[str | None] = Remembered("_model_aside", default=None)


@dataclass(frozen=True, kw_only=True)
class Example:
    """A sentence to start from, or two, and what to look for: ``target`` asks, where there are two.

    ``query`` is the token that is locked in the head grid until the visitor chooses another. ``model``, if one is
    named, is the one in which there is something to look for, in a ``layer`` and a ``head``. ``other`` is the
    sentence to compare with, if it is not in ``assets/minimal_pairs.toml``.
    """

    code: str
    lang: str
    text: str
    why: dict[str, str]
    target: str = ""
    query: str = ""
    model: str = ""
    layer: int = 0
    head: int = 0
    other: str = ""


@cache
def _examples(name: str) -> tuple[Example, ...]:
    with (ASSETS / f"{name}.toml").open("rb") as file:
        return tuple(Example(**example) for example in tomllib.load(file)["example"])


def examples() -> tuple[Example, ...]:
    """The sentences of ``assets/examples.toml``, the default one first."""
    return _examples("examples")


@cache
def example_labels(lang: str) -> Mapping[str, str]:
    """The sentences for a list, by their codes."""
    labels = {example.code: f"{isolate(example.text)} · {example.why[lang]}" for example in examples()}
    return MappingProxyType(labels)


def pairs() -> tuple[Example, ...]:
    """The pairs of ``assets/pairs.toml``, one to ask and one to answer, the default one first."""
    return _examples("pairs")


@dataclass(frozen=True, kw_only=True)
class MinimalPair:
    """A sentence with a gap, two words for it, and the two nouns that "it" means with one and with the other."""

    text: str
    words: tuple[str, ...]
    nouns: tuple[str, ...]


@cache
def minimal_pairs() -> tuple[MinimalPair, ...]:
    """The pairs of ``assets/minimal_pairs.toml``."""
    with (ASSETS / "minimal_pairs.toml").open("rb") as file:
        return tuple(
            MinimalPair(text=pair["text"], words=tuple(pair["words"]), nouns=tuple(pair["nouns"]))
            for pair in tomllib.load(file)["pair"]
        )


def counterpart(text: str) -> str | None:
    """The sentence to compare with: another word in it turns what "it" means. None if none is known.

    Example:
        >>> counterpart("The dog did not enter the room because it was too scared.")
        'The dog did not enter the room because it was too dark.'
    """
    if counterpart_text := next((example.other for example in examples() if example.text == text.strip()), ""):
        return counterpart_text
    for pair in minimal_pairs():
        sentences = [pair.text.format(word) for word in pair.words]
        if text.strip() in sentences:
            return sentences[1 - sentences.index(text.strip())]
    return None


def take_head(example: Example) -> None:
    """Choose the model in which there is something to see in an example, and where."""
    for name, value in _head_choices(example).items():
        Parameter(name).choose(value)


def go_to_head(model: str, text: str, head: tuple[int, int]) -> None:
    """Set the parameters with which the page of heads opens."""
    SOURCE.choose("model")
    MODEL.choose(model)
    TEXT.choose(text)
    LAYER.choose(head[0])
    HEAD.choose(head[1])


def _head_choices(example: Example) -> dict[str, Any]:
    return {MODEL.name: example.model, LAYER.name: example.layer, HEAD.name: example.head}


def default_target(text: str) -> str:
    """Return the second text where none was chosen: a Chinese one beside a Chinese text.

    Example:
        >>> default_target("one two"), default_target("一二")
        ('A sleepy dog stayed on its side of the road.', '那只小狗困得不想走到街对面。')
    """
    return next(pair.target for pair in pairs() if _is_chinese(pair.text) == _is_chinese(text))


def _is_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


def stash_text(*, with_model: bool = False) -> None:
    """Stash an example sentence carried from another page, while the model of this page cannot read it.

    If ``with_model``, also stash the model that it was opened with.
    """
    came_along = of_session().is_new_page and TEXT.is_chosen and not TEXT.predates_navigation
    if came_along and TEXT.value in {example.text for example in examples()}:
        text = TEXT.value
        _STASHED_TEXT.set(text)
        TEXT.forget()
        readers = {example.model for example in examples() if example.text == text}
        if with_model and MODEL.is_chosen and MODEL.value in readers:
            _STASHED_MODEL.set(MODEL.value)
            MODEL.forget()


def restore_text() -> None:
    """Choose again the sentence that was laid aside, unless another was chosen meanwhile."""
    text = _STASHED_TEXT.take()
    reader = _STASHED_MODEL.take()
    if text is not None and not TEXT.is_chosen and not TEXT.predates_navigation:
        TEXT.choose(text)
        if reader is not None and not MODEL.is_chosen and not MODEL.predates_navigation:
            MODEL.choose(reader)


def what_is_read(lang: str) -> dict[str, Any]:
    """Return what a link without choices opens, by parameter: the command line's folder, else a text in a language.

    With the text goes the model that reads it, and where there is something to see.
    """
    available = models_here()
    if folder := next((entry.id for entry in specs.local_entries() if entry.id in available), ""):
        return {MODEL.name: folder}
    example = next((example for example in examples() if example.lang == lang and example.model in available), None)
    if example is None or not registry.find(example.model).is_here():
        return {}
    return {TEXT.name: example.text, **_head_choices(example)}


def open_on_what_is_read(lang: str) -> None:
    """Choose what a link without choices opens for a user of this language, but keep a typed text or a chosen folder.

    All of it counts as chosen, so it stands in the link; a link that names no model keeps its meaning.
    """
    choices = what_is_read(lang)
    has_text = TEXT.name in choices
    for name, value in choices.items():
        is_kept = name == TEXT.name or (name == MODEL.name and not has_text)
        if not (is_kept and Parameter(name).is_chosen):
            Parameter(name).choose(value)
