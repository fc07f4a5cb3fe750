"""The words in another order: shuffled by a number in the link, or backwards; special tokens keep their places."""

import streamlit as st

from viz.core.variants.encodings import shuffled
from viz.models.tokens import Tokens
from viz.params import Int

SHUFFLE = Int("shuffle", high=999)
"""Seed of the shuffle."""


def shuffled_order(tokens: Tokens) -> tuple[int, ...]:
    """Return an order: place i holds token ``order[i]``; with fewer than two words nothing moves."""
    fixed = frozenset(i for i, special in enumerate(tokens.special) if special)
    return tuple(shuffled(len(tokens.ids), SHUFFLE.read(), fixed).tolist())


def backward_order(tokens: Tokens) -> tuple[int, ...]:
    """Return the order with the last word first."""
    free = [i for i, special in enumerate(tokens.special) if not special]
    back = dict(zip(free, reversed(free), strict=True))
    return tuple(back.get(i, i) for i in range(len(tokens.ids)))


def reads_the_same(tokens: Tokens, order: tuple[int, ...]) -> bool:
    """Return True if only equal words changed places."""
    return tuple(tokens.ids[i] for i in order) == tokens.ids


def shuffle_again(label: str, *, key: str, disabled: bool = False) -> None:
    """Draw a button for another order. The seed is in the link, so that two sections may each have a button."""
    st.button(label, key=key, on_click=_next_shuffle, disabled=disabled)


def _next_shuffle() -> None:
    SHUFFLE.set((SHUFFLE.value + 1) % len(SHUFFLE.options()))
