"""Sentences to start from, and what to look for in them."""

import tomllib
from dataclasses import dataclass
from functools import cache

from viz import ASSETS


@dataclass(frozen=True, kw_only=True)
class Example:
    """A sentence to start from, or two, and what to look for: ``target`` asks, where there are two.

    ``query`` is the token that is locked in the head grid until the visitor chooses another.
    """

    code: str
    lang: str
    text: str
    why: dict[str, str]
    target: str = ""
    query: str = ""


@cache
def _examples(name: str) -> tuple[Example, ...]:
    with (ASSETS / f"{name}.toml").open("rb") as file:
        return tuple(Example(**example) for example in tomllib.load(file)["example"])


def examples() -> tuple[Example, ...]:
    """The sentences of ``assets/examples.toml``, the default one first."""
    return _examples("examples")


def pairs() -> tuple[Example, ...]:
    """The pairs of ``assets/pairs.toml``, one to ask and one to answer, the default one first."""
    return _examples("pairs")
