"""Models of 2024 and 2026, read from ``models.toml``: the kinds of their layers, and the caches these fill."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.cost.mixes import recount
from viz.core.cost.mixed import FullCost, LatentCost, LayerCost, LinearCost, TopKCost, WindowCost, cache_bytes
from viz.core.spec import AttentionSpec
from viz.core.variants.today.latent import LatentSpec
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.shared import LANG
from viz.frame.show import show_table
from viz.models.presets import preset as find_preset
from viz.text import Translate
from viz.text.citations import translate_source
from viz.text.sizes import size

LONG = 128 * 1024
COLUMNS = ("model", "year", "stack", "token", "text", "of_full", "source")


@dataclass(frozen=True, kw_only=True)
class Model:
    """A published model; ``config`` names the class of transformers whose defaults its sizes are, else ``source``."""

    name: str
    year: int
    sizes: Mapping[str, Any]
    config: str = ""
    source: str = ""

    @property
    def layers(self) -> list[LayerCost]:
        """Cost of every layer, kind by kind."""
        return [self.cost(kind) for kind, n_layers in self.sizes["layers"].items() for _ in range(n_layers)]

    def cost(self, kind: str) -> LayerCost:
        """Return the cost of one of its layers."""
        s = self.sizes
        match kind:
            case "window":
                return WindowCost(spec=self._attention, size=s["window"])
            case "linear":
                return LinearCost(**s["linear"], corrects=True)
            case "latent":
                return LatentCost(spec=LatentSpec(d_model=s["d_model"], n_heads=s["n_heads"], **s["latent"]))
            case "select":
                return TopKCost(layer=self.cost("latent"), **s["select"])
        return FullCost(spec=self._attention)

    @property
    def only_full(self) -> list[LayerCost]:
        """Cost of as many layers, all full: those of MLA with the keys and values of every head."""
        return [FullCost(spec=self._attention)] * sum(self.sizes["layers"].values())

    @property
    def _attention(self) -> AttentionSpec:
        s = self.sizes
        if "latent" not in s:
            names = ("d_model", "n_heads", "n_kv_heads", "d_head")
            return AttentionSpec(**{name: s[name] for name in names})
        key, value = s["latent"]["d_nope"] + s["latent"]["d_rope"], s["latent"]["d_value"]
        return AttentionSpec(d_model=s["d_model"], n_heads=s["n_heads"], d_head=key, d_value=value)

    def cache(self, n: int) -> int:
        """Return the bytes of the cache after n tokens."""
        return cache_bytes(self.layers, n_tokens=n)


@cache
def models() -> tuple[Model, ...]:
    """Return the models, in the order of the file."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf8"))["model"]
    return tuple(_of_preset(**entry) if "preset" in entry else _of_config(**entry) for entry in entries)


def _of_config(name: str, year: int, config: str, **sizes: Any) -> Model:
    return Model(name=name, year=year, config=config, sizes=sizes)


def _of_preset(preset: str, year: int) -> Model:
    """Read the sizes from the presets; theirs is the window of some of the layers."""
    entry = find_preset(preset)
    spec, model = entry.attention, entry.model
    sizes = {"d_model": spec.d_model, "n_heads": spec.H, "n_kv_heads": spec.G, "d_head": spec.d_k}
    layers = {"full": model.n_layers - model.windowed_layers, "window": model.windowed_layers}
    return Model(
        name=entry.id,
        year=year,
        source=entry.source,
        sizes=sizes | {"window": model.window, "layers": {kind: n for kind, n in layers.items() if n}},
    )


def draw_models(t: Translate) -> list[Check]:
    """Draw the table; check its caches against tensors of the published shapes."""
    columns = {name: st.column_config.TextColumn(t(f"cost.mixes.m_{name}"), pinned=name == "model") for name in COLUMNS}
    show_table([_row(t, model) for model in models()], height="content", column_config=columns, key="mixed_models")
    st.caption(t("cost.mixes.models_note"))
    lengths = (1, LONG, LONG + 1)
    pairs = list(zip(models(), recount.published_sizes(), strict=True))
    off = max(abs(model.cache(n) - recount.published_bytes(sizes, n)) for model, sizes in pairs for n in lengths)
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
    s = model.sizes
    looks_at = {"window": s.get("window"), "select": s.get("select", {}).get("top_k")}
    texts = [
        t(f"cost.mixes.stack_{kind}", n=n_layers, size=amount(looks_at.get(kind, 0)))
        for kind, n_layers in s["layers"].items()
    ]
    return " + ".join(texts)
