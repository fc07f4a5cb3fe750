"""Computation of an atlas in chunks, with a progress bar and a stop button."""

from typing import Any

import streamlit as st

from pages.atlas import compute
from pages.atlas.parameters import ATLAS_CORPUS, ATLAS_HEAD, ATLAS_LAYER, ATLAS_NOW
from viz import limits
from viz.frame.available_models import models_here
from viz.frame.compute import model
from viz.frame.compute.resumable import Step, Words, run_resumable
from viz.frame.shared import MODEL, SOURCE
from viz.models.atlas import make
from viz.models.atlas.corpus import sentences
from viz.models.atlas.file import SHIPPED
from viz.models.atlas.make import Atlas
from viz.models.atlas.random_weights import SEEDS
from viz.text import Translate, paragraph

BEFORE = 1 + len(SEEDS)
"""Computations before the corpus is read."""


def compute_atlas(t: Translate, model_id: str, corpus: str, lines: tuple[str, ...], *, at_once: bool) -> Atlas | None:
    """Return the atlas of these lines, or of those read before the user stopped; None if there is none yet.

    ``at_once`` begins; else there is a button.
    """
    if not lines:
        st.info(t("atlas.no_lines"))
        return None
    if is_too_large(model_id):
        st.info(t("atlas.too_large", model=model_id, most=limits.ATLAS_PARAMETERS // 10**6))
        return None
    if not limits.ATLAS_NOW:
        st.info(t("atlas.off"))
        _offer_ready(t)
        return None
    if not at_once:
        st.info(paragraph(t("atlas.not_yet", model=model_id, n=len(lines)), takes(t, model_id, len(lines))))
        _offer_ready(t)
        st.button(t("atlas.compute"), key="atlas_compute", type="primary", on_click=_begin)
        return None
    n_chunks = len(_run(t, model_id, corpus, lines)) - BEFORE
    return compute.assembled(model_id, corpus, lines, n_chunks) if n_chunks > 0 else None


def is_too_large(model_id: str) -> bool:
    """Return True for a model that is not scored while a user waits."""
    return model(model_id).entry.parameters > limits.ATLAS_PARAMETERS


def takes(t: Translate, model_id: str, n_lines: int) -> str:
    """The expected seconds of the computation, as a sentence."""
    loaded_model = model(model_id)
    return t("atlas.takes", seconds=make.seconds(loaded_model.n_layers * loaded_model.n_heads, n_lines))


def _offer_ready(t: Translate) -> None:
    """The atlases that come with the app, first."""
    available = models_here()
    with st.container(horizontal=True, gap="small"):
        for name, corpus in SHIPPED:
            if name in available:
                label = t("atlas.ready", model=name, corpus=t(f"atlas.of_{corpus}", n=len(sentences(corpus))))
                st.button(label, key=f"atlas_ready_{name}", on_click=_show_ready, args=(name,))


def _show_ready(name: str) -> None:
    """Open a model's atlas on its default corpus."""
    SOURCE.choose("model")
    MODEL.choose(name)
    for parameter in (ATLAS_CORPUS, ATLAS_NOW, ATLAS_LAYER, ATLAS_HEAD):
        parameter.forget()


def _begin() -> None:
    ATLAS_NOW.choose(True)


def _run(t: Translate, model_id: str, corpus: str, lines: tuple[str, ...]) -> list[Any]:
    """Compute the missing results: scores without sentences, random weights, then the corpus in chunks."""
    pieces = compute.chunks_of(lines)
    words = Words(
        computing=lambda n_done: t("atlas.computing", done=n_done, n=BEFORE + len(pieces)),
        stop=t("atlas.stop"),
        go_on=t("atlas.go_on"),
        stopped=lambda n_done: t("atlas.stopped", done=n_done, n=BEFORE + len(pieces)),
    )
    steps: list[Step] = [(compute.scores_without_text, (model_id,))]
    steps += [(compute.by_chance, (model_id, compute.spaced(lines), seed)) for seed in SEEDS]
    steps += [(compute.chunk, (model_id, piece)) for piece in pieces]
    return run_resumable("atlas", (model_id, corpus, lines), steps, words)
