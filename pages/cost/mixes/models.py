"""The table of published models: the kinds of their layers, and the caches these fill."""

from typing import Any

import streamlit as st

from viz.core.cost.mixed import cache_bytes
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.shared import LANG
from viz.frame.show import show_table
from viz.models.published import Model, models
from viz.models.recount.published import published_bytes, published_sizes
from viz.text import Translate
from viz.text.citations import translate_source
from viz.text.sizes import size

LONG = 128 * 1024
COLUMNS = ("model", "year", "stack", "token", "text", "of_full", "source")
WITH_SIZE = ("window", "chunks", "select")
"""Kinds of layers that look at so many tokens."""


def draw_models(t: Translate) -> list[Check]:
    """Draw the table; check its caches against tensors of the published shapes."""
    columns: Any = {
        name: st.column_config.TextColumn(t(f"cost.mixes.m_{name}"), pinned=name == "model") for name in COLUMNS
    }
    show_table([_row(t, model) for model in models()], height="content", column_config=columns, key="mixed_models")
    st.caption(t("cost.mixes.models_note"))
    pairs = list(zip(models(), published_sizes(), strict=True))
    off = max(abs(model.cache(n) - published_bytes(sizes, n)) for model, sizes in pairs for n in (1, LONG, LONG + 1))
    return [check("cost.mixes.check_models", off, 0, n=len(models()))]


def _row(t: Translate, model: Model) -> dict[str, str]:
    at_end = model.cache(LONG)
    source = t("cost.mixes.config", name=model.config) if model.config else translate_source(LANG.value, model.source)
    cells = (
        model.name,
        str(model.year),
        stack_text(t, model),
        size(model.cache(LONG + 1) - at_end),
        size(at_end),
        share(at_end / cache_bytes(model.only_full, n_tokens=LONG)),
        source,
    )
    return dict(zip(COLUMNS, cells, strict=True))


def stack_text(t: Translate, model: Model) -> str:
    """Return the kinds of a model's layers and their numbers."""
    sizes = model.sizes
    looks_at = {**sizes, "select": sizes.get("select", {}).get("top_k")}
    texts = [
        t(f"cost.mixes.stack_{kind}", n=n_layers, size=amount(looks_at[kind]) if kind in WITH_SIZE else "")
        for kind, n_layers in sizes["layers"].items()
    ]
    return " + ".join(texts)
