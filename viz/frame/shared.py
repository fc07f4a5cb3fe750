"""The parameters that all pages share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz import limits
from viz.params import Choice, Int, Ints, Real, Scope, Text, TokenIndex
from viz.params.session import of_session
from viz.text import LANGUAGES


def _layers(numbers: Sequence[int]) -> Sequence[int]:
    """Return a model's numbers of its layers that attend, as a range where those are all of them."""
    every = range(len(numbers))
    return every if tuple(numbers) == tuple(every) else numbers


@dataclass(frozen=True)
class Sections:
    """The sections that a page may open, and the page's name."""

    page: str
    names: Sequence[str]


@dataclass(frozen=True)
class Models:
    """The models that are installed, and the one that is read where none was chosen."""

    available: Mapping[str, Any]
    default: str

    @property
    def first(self) -> str:
        """The default, or the first that is there if that is not."""
        return self.default if self.default in self.available else next(iter(self.available), self.default)


@dataclass(frozen=True)
class Places:
    """The words of a text, the places among them that may be chosen, and the first one; -1 is none."""

    words: tuple[str, ...]
    first: int
    among: Sequence[int]


@dataclass(frozen=True)
class Options:
    """The values to choose from, such as the numbers of heads that a width allows, and the one at first."""

    among: Sequence[Any]
    first: Any


LANG = Choice(
    "lang", lambda _: "zh" if (st.context.locale or "").lower().startswith("zh") else "en", among=tuple(LANGUAGES)
)
SECTION = Choice("section", among=lambda page: page.names, scope=Scope(lambda page: page.page, keeps=False))
SOURCE = Choice("source", among=("model", "embeddings", "words"))
TEXT = Text("text", lambda first: first, longest=limits.CHARACTERS)
TARGET = TEXT.variant(name="target")
"""The text that asks, or that a decoder writes, where there are two."""
MODEL = Choice("model", lambda models: models.first, among=lambda models: list(models.available))
LAYER = Int("layer", 3, among=_layers, nearest=True)
HEAD = Int("head", 1, high=lambda n_heads: n_heads - 1)
QUERY = TokenIndex(
    "query",
    lambda places: places.first,
    among=lambda places: places.among,
    scope=Scope(lambda places: places.words),
)
KEY = QUERY.variant(name="key")
D_MODEL = Int("d_model", 16, among=limits.WIDTHS)
N_HEADS = Int("n_heads", lambda sizes: sizes.first, among=lambda sizes: sizes.among)
N_KV_HEADS = N_HEADS.variant(name="n_kv_heads")
COLDEST, HOTTEST = 0.1, 10.0
TEMPERATURE = Real("temperature", 1.0, low=COLDEST, high=HOTTEST, scope=Scope("grid"))
"""The divisor of the scores of the large map; on another page a deliberate mistake in the formula."""
SEED = Int("seed", high=9_999)
HEADS_OFF = Ints("off", high=lambda n_heads: n_heads - 1)
TOY_HEADS, KEEP, GROUP_SIZE = Int("toy_heads", 1, low=1), Int("keep", 4, low=1), Int("group_size", 2, low=1)
FULL_LAYERS, NEAR_SIZE, STACK = Choice("pattern"), Int("near_size", 3, low=1, high=64), Int("stack", low=1)
STEP = Int("step")
"""The step of a page with steps; separate for each page."""
WORDS = Text("words")
"""Words in place of a text; each page that has some has its own."""


def open_section(page: str) -> str | None:
    """Return the section that is open on a page, "all" for all of them; None if the open page is another one."""
    return SECTION.value if SECTION.has_value and of_session().scopes.get(SECTION.name) == page else None
