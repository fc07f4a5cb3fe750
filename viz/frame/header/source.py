"""The chip of the source: whose numbers a page shows, a model's or seeded ones."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import limits
from viz.frame import controls, specs, state
from viz.frame.models_here import models_here, offered, to_choose_from, too_large
from viz.text import Translate

SOURCES = ("model", "embeddings", "words")


def source_controls(t: Translate, lang: str, kind: str) -> None:
    """Draw the choice of a kind of source, and of a model where one is read."""
    controls.choice(
        t("choice.source"),
        "source",
        SOURCES,
        lambda code: t(f"source.{code}"),
        look="radio",
        captions=[t(f"source.{code}_short") for code in SOURCES],
    )
    if kind != "words":
        _model_control(t, lang)


def _model_control(t: Translate, lang: str) -> None:
    available = models_here()
    chosen = available.get(st.session_state["model"])
    names, help_text = to_choose_from(st.session_state["model"]), chosen.why.get(lang) if chosen else None
    controls.selectbox(t("choice.model"), "model", names, help=help_text)
    if readers := [entry.id for entry in specs.local_picture_entries()]:
        st.caption(t("choice.reads_pictures", models=", ".join(readers)))
    if to_add := [entry.id for entry in offered() if entry.file and entry.id not in available]:
        st.caption(t("choice.packaged", models=", ".join(to_add)))
    if larger := [entry.id for entry in too_large()]:
        st.caption(t("choice.too_large", models=", ".join(larger), mb=limits.MODELS_BYTES // 10**6))
    if away := [entry for entry in offered() if entry.id not in available]:
        with st.expander(t("choice.more_models", n=len(away))):
            listed = [
                f"**{entry.id}** · {entry.parameters / 1e6:.0f} M · {entry.size_mb:.0f} MB · {entry.licence}  \n"
                + entry.why.get(lang, "")
                for entry in away
            ]
            st.caption("\n\n".join([t("choice.offline"), *listed]))  # one message a rerun, not one for each


def choose_sizes(t: Translate, chip: DeltaGenerator | None, d_model: int | None, *, own_groups: bool) -> dict[str, int]:
    """Return sizes and seed of seeded heads; draw their controls in the chip, if there is one.

    Args:
        t: the texts.
        chip: of the source.
        d_model: the width that a model's vectors have; None where it is free.
        own_groups: False where the control for G stands elsewhere.
    """
    width = d_model or state.pick("d_model", 16, limits.WIDTHS)
    heads = [n for n in range(1, limits.SEEDED_HEADS + 1) if width % n == 0]
    some = 4 if 4 in heads else heads[-1]
    n_heads = state.pick("n_heads", some, heads)
    groups = [n for n in range(1, n_heads + 1) if n_heads % n == 0]
    n_kv_heads = state.pick("n_kv_heads", n_heads if own_groups else groups[len(groups) // 2], groups)
    seed = state.whole("seed", 0, 0, 9_999)
    if chip:
        with chip:
            if not d_model:
                controls.select_slider(t("choice.d_model"), "d_model", 16, limits.WIDTHS, help=t("choice.d_model_help"))
            controls.select_slider(t("choice.n_heads"), "n_heads", some, heads)
            if own_groups:
                label, help_text = t("choice.n_kv_heads"), t("choice.n_kv_heads_help")
                controls.select_slider(label, "n_kv_heads", n_heads, groups, help=help_text)
            controls.number_input(t("choice.seed"), "seed", 0, 0, 9_999, help=t("choice.seed_help"))
    return {"d_model": 0 if d_model else width, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "seed": seed}
