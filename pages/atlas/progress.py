"""An atlas computed while the visitor waits: piece by piece, with a bar, and a button that stops it."""

from typing import Any

import streamlit as st

from pages.atlas import compute
from viz import limits
from viz.frame import state
from viz.frame.compute import model
from viz.frame.compute.pieces import Step, Words, in_pieces
from viz.models.atlas.make import Atlas
from viz.text import Translate

BEFORE = 2
"""Computations before the corpus is read."""


def computed(t: Translate, model_id: str, corpus: str, lines: tuple[str, ...], *, at_once: bool) -> Atlas | None:
    """The atlas of these lines, or of those read before the visitor stopped; None if there is none yet.

    Args:
        t: the texts in the visitor's language.
        model_id: whose heads.
        corpus: what the lines are called.
        lines: a sentence each.
        at_once: whether to begin; else there is a button.
    """
    if not lines:
        st.info(t("atlas.no_lines"))
        return None
    if model(model_id).entry.parameters > limits.ATLAS_PARAMETERS:
        st.info(t("atlas.too_large", model=model_id, most=limits.ATLAS_PARAMETERS // 10**6))
        return None
    if not at_once:
        st.info(t("atlas.not_yet", model=model_id, n=len(lines)))
        st.button(t("atlas.compute"), key="atlas_compute", type="primary", on_click=_begin)
        return None
    n_chunks = len(_run(t, model_id, corpus, lines)) - BEFORE
    return compute.assembled(model_id, corpus, lines, n_chunks) if n_chunks > 0 else None


def _begin() -> None:
    state.choose("atlas_now", True)


def _run(t: Translate, model_id: str, corpus: str, lines: tuple[str, ...]) -> list[Any]:
    """Compute what is not kept yet: what needs no sentence, what chance does, then the corpus piece by piece."""
    pieces = compute.chunks_of(lines)
    words = Words(
        computing=lambda done: t("atlas.computing", done=done, n=BEFORE + len(pieces)),
        stop=t("atlas.stop"),
        go_on=t("atlas.go_on"),
        stopped=lambda done: t("atlas.stopped", done=max(0, done - BEFORE), n=len(pieces)),
    )
    steps: list[Step] = [(compute.others, (model_id,)), (compute.by_chance, (model_id, compute.spaced(lines)))]
    steps += [(compute.chunk, (model_id, piece)) for piece in pieces]
    return in_pieces("atlas", (model_id, corpus, lines), steps, words)
