"""The chip of the source: whose numbers a page shows, a model's or seeded ones."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import limits
from viz.frame import specs
from viz.frame.available_models import labels_of, list_models, listed_entries, models_here, too_large
from viz.frame.shared import D_MODEL, MODEL, N_HEADS, N_KV_HEADS, SEED, SOURCE, Models, Options
from viz.text import Translate


def source_controls(t: Translate, lang: str, models: Models) -> None:
    """Draw the choice of a kind of source, and of a model where one is read."""
    captions = [t(f"source.{code}_short") for code in SOURCE.options()]
    kind = SOURCE.radio(t("choice.source"), says=lambda code: t(f"source.{code}"), captions=captions)
    if kind != "words":
        _model_control(t, lang, models)


def _model_control(t: Translate, lang: str, models: Models) -> None:
    available = models_here()
    model_entry = available.get(MODEL.value)
    help_text = model_entry.why.get(lang) if model_entry else None
    labels = labels_of(t, list_models(MODEL.value))
    MODEL.selectbox(t("choice.model"), models, listed=list(labels), says=labels.__getitem__, help=help_text)
    if readers := [entry.id for entry in specs.local_picture_entries()]:
        st.caption(t("choice.reads_pictures", models=", ".join(readers)))
    away = [entry for entry in listed_entries() if entry.id not in available]
    if to_add := [entry.id for entry in away if entry.file]:
        st.caption(t("choice.packaged", models=", ".join(to_add)))
    if larger := [entry.id for entry in too_large()]:
        st.caption(t("choice.too_large", models=", ".join(larger), mb=limits.MODELS_BYTES // 10**6))
    if away:
        with st.expander(t("choice.more_models", n=len(away))):
            lines = [
                f"**{entry.id}** · {entry.parameters / 1e6:.0f} M · {entry.size_mb:.0f} MB · {entry.licence}  \n"
                + entry.why.get(lang, "")
                for entry in away
            ]
            # One caption is one message a rerun; a caption for each line would be many.
            st.caption("\n\n".join([t("choice.offline"), *lines]))


def choose_sizes(t: Translate, chip: DeltaGenerator | None, d_model: int | None, *, own_groups: bool) -> dict[str, int]:
    """Return sizes and seed of seeded heads; draw their controls in the chip, if there is one.

    The width is free where a model's vectors give none; without ``own_groups`` the control for G stands elsewhere.
    """
    width = d_model or D_MODEL.read()
    heads = [n for n in range(1, limits.SEEDED_HEADS + 1) if width % n == 0]
    sizes = Options(heads, 4 if 4 in heads else heads[-1])
    n_heads = N_HEADS.read(sizes)
    groups = [n for n in range(1, n_heads + 1) if n_heads % n == 0]
    kv_sizes = Options(groups, n_heads if own_groups else groups[len(groups) // 2])
    n_kv_heads, seed = N_KV_HEADS.read(kv_sizes), SEED.read()
    if chip:
        with chip:
            if not d_model:
                D_MODEL.select_slider(t("choice.d_model"), help=t("choice.d_model_help"))
            N_HEADS.select_slider(t("choice.n_heads"), sizes)
            if own_groups:
                N_KV_HEADS.select_slider(t("choice.n_kv_heads"), kv_sizes, help=t("choice.n_kv_heads_help"))
            SEED.number_input(t("choice.seed"), help=t("choice.seed_help"))
    return {"d_model": 0 if d_model else width, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "seed": seed}
