"""A stack of full layers and layers of another kind, its controls, and the lengths from which it is cheaper."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages.cost.context import CostContext
from viz.core.cost.architectures import Sizes
from viz.core.cost.mixed import (
    FullCost,
    LatentCost,
    LayerCost,
    LinearCost,
    TopKCost,
    WindowCost,
    cache_bytes,
    cheaper_from,
    interleave,
    step_flops,
)
from viz.core.spec import AttentionSpec
from viz.core.variants.today.interleaved import PERIODS
from viz.core.variants.today.latent import LatentSpec
from viz.frame.lazy import lazy
from viz.frame.shared import FULL_LAYERS, NEAR_SIZE, STACK
from viz.params import Choice, Scope

WITH_SIZE = ("window", "select")
"""Kinds of layers that look at a number of tokens, which can be chosen."""
MEASURES = {"flops": step_flops, "cache": cache_bytes}

KIND = Choice("mix_kind", among=("window", "linear", "latent", "select"))
PATTERN = FULL_LAYERS.variant(default="five", among=tuple(PERIODS), scope=Scope("mixes"))
SIZE = NEAR_SIZE.variant(default=1024, high=10**6, scope=Scope("mixes"))
N_LAYERS = STACK.variant(default=24, high=96, scope=Scope("mixes"))


@dataclass(frozen=True, kw_only=True)
class Mix:
    """A stack of ``n_layers``: ``pattern`` says which are full, ``kind`` names the others.

    ``size`` is the window, or the number of tokens that are selected. A latent vector is four heads wide and its key
    with RoPE half a head, and the scorer of a selection has half the heads: the ratios of DeepSeek-V3 and V3.2.
    """

    sizes: Sizes
    kind: str
    pattern: str
    size: int
    n_layers: int

    @property
    def d_k(self) -> int:
        """Width of a head."""
        return self.sizes.d // self.sizes.h

    @property
    def n_scorers(self) -> int:
        """Heads of the scorer that selects tokens."""
        return max(1, self.sizes.h // 2)

    @property
    def latent(self) -> LatentSpec:
        """Sizes of a layer of MLA."""
        return LatentSpec(
            d_model=self.sizes.d,
            n_heads=self.sizes.h,
            d_latent=4 * self.d_k,
            d_nope=self.d_k,
            d_rope=self.d_k // 2,
            d_value=self.d_k,
        )

    @property
    def full(self) -> FullCost:
        """Cost of a full layer."""
        return FullCost(spec=AttentionSpec(d_model=self.sizes.d, n_heads=self.sizes.h))

    @property
    def rest(self) -> LayerCost:
        """Cost of a layer that is not full."""
        match self.kind:
            case "window":
                return WindowCost(spec=self.full.spec, size=self.size)
            case "linear":
                return LinearCost(n_heads=self.sizes.h, d_k=self.d_k, d_v=self.d_k, corrects=True)
            case "latent":
                return LatentCost(spec=self.latent)
        return TopKCost(layer=self.full, top_k=self.size, n_heads=self.n_scorers, d_head=self.d_k)

    @lazy
    def layers(self) -> list[LayerCost]:
        """Cost of every layer, the lowest first."""
        return interleave(self.full, self.rest, n_layers=self.n_layers, period=PERIODS[self.pattern])

    @lazy
    def only_full(self) -> list[LayerCost]:
        """Cost of as many layers, all full."""
        return [self.full] * self.n_layers

    @property
    def n_full(self) -> int:
        """Number of full layers in the mix."""
        return sum(isinstance(layer, FullCost) for layer in self.layers)

    def meets(self, measure: str) -> int | None:
        """Return the length from which the mix is cheaper than full layers; None if it never is."""
        count = MEASURES[measure]
        return cheaper_from(lambda n: count(self.layers, n_tokens=n), lambda n: count(self.only_full, n_tokens=n))


def choose(context: CostContext) -> Mix:
    """Draw the controls, and return the mix."""
    t = context.t
    with st.container(horizontal=True):
        kind = KIND.segments(t("cost.mixes.kind"), says=lambda code: t(f"cost.mixes.{code}"), width="content")
        pattern = PATTERN.segments(t("cost.mixes.pattern"), says=lambda code: t(f"cost.mixes.{code}"), width="content")
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        number = partial(SIZE.number_input, t("cost.mixes.size"), width=200, help=t("cost.mixes.size_help"))
        size = number() if kind in WITH_SIZE else SIZE.read()
        n_layers = N_LAYERS.number_input(t("cost.mixes.layers"), width=150)
    return Mix(sizes=context.sizes, kind=kind, pattern=pattern, size=size, n_layers=n_layers)
