"""One head's scores under every mask: small maps that choose one; large, with what each keeps and costs, if asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.masks.checks import mask_check, weights_by_torch
from pages.masks.context import MasksContext, begin_painting
from viz.components.maps import Panel, pack_maps
from viz.core.analysis.checks import rounding
from viz.core.attention import row_softmax
from viz.core.cost.attention import attention_flops
from viz.frame import specs
from viz.frame.checks import Check, check
from viz.frame.choice import DETAILS, MASK, PAINTED
from viz.frame.format import share
from viz.frame.show import MAPS, show_table

THUMBNAILS, LARGE = "thumbnails", "every_mask"
"""The maps that choose a mask, and the same ones large."""


@dataclass(frozen=True, kw_only=True)
class EveryMask:
    """Each kind of mask as it would open, with the cells that it leaves open and the head's weights (masks, T, T)."""

    masks: Mapping[str, specs.Mask]
    allowed: Mapping[str, Tensor]
    weights: Tensor


def every_mask(context: MasksContext) -> EveryMask:
    """Return the head's weights under every kind of mask; a painted one is there if something has been painted."""
    chosen = context.mask
    masks = {kind: chosen if kind == chosen.kind else _with_its_details(kind) for kind in specs.MASKS}
    if not masks["painted"].painted:
        del masks["painted"]
    allowed = {kind: context.laid_by(mask) & context.model_allowed for kind, mask in masks.items()}
    masked = torch.stack([context.scores.masked_fill(~mask, -torch.inf) for mask in allowed.values()])
    return EveryMask(masks=masks, allowed=allowed, weights=row_softmax(masked))


def draw_thumbnails(context: MasksContext, found: EveryMask) -> None:
    """Draw the small maps: each is a button that chooses its mask."""
    _mount(context, found, THUMBNAILS, thumbnails=True)


def draw_large(context: MasksContext, found: EveryMask) -> list[Check]:
    """Draw the same maps large, on one scale, and a table of what each mask keeps and costs."""
    _mount(context, found, LARGE)
    _costs(context, found.allowed)
    by_torch = torch.stack([weights_by_torch(context, mask) for mask in found.masks.values()])
    tolerance = rounding(context.q, context.k, context.options.get("scale"))
    return [
        mask_check(context, {found.masks[kind]: shown for kind, shown in found.allowed.items()}),
        check("masks.check_every", (found.weights - by_torch).abs().max(), tolerance),
    ]


def _mount(context: MasksContext, found: EveryMask, key: str, **header: Any) -> None:
    t = context.t
    panels = [
        Panel(
            code=kind,
            title=t(f"masks.name_{kind}"),
            alt=t("masks.map_alt", name=t(f"masks.name_{kind}")),
            labels=context.labels,
        )
        for kind in found.masks
    ]
    packed = pack_maps(
        panels,
        found.weights,
        what="weights",
        limit=1.0,
        chosen=context.mask.kind,
        **header,
    )
    MAPS.mount(key=key, data=packed, words={"says": t("map.looks"), "axes": t("masks.axes")}, on={"chosen": _open})


def _with_its_details(kind: str) -> specs.Mask:
    """A kind of mask as it would open: with what the visitor set for it before."""
    details: dict[str, Any] = {detail.name: detail.value for detail in (*DETAILS, PAINTED) if detail.has_value}
    return specs.Mask(kind=kind, **details)


def _open(kind: str) -> None:
    if kind in specs.MASKS:
        MASK.set(kind)
        begin_painting()


def _costs(context: MasksContext, allowed: Mapping[str, Tensor]) -> None:
    t, spec, n = context.t, context.scene.trace.projections.spec, context.n
    rows, whole = [], attention_flops(spec, n_queries=n, n_keys=n)
    for kind, mask in allowed.items():
        kept = int(mask.sum())
        flops = attention_flops(spec, n_queries=n, n_keys=n, n_pairs=kept)
        rows.append(
            {
                t("masks.t_mask"): f"{'→ ' * (kind == context.mask.kind)}{t(f'masks.name_{kind}')}",
                t("masks.t_kept"): f"{kept:,} / {n * n:,}",
                t("masks.t_share"): share(kept / n**2),
                t("masks.t_blind"): int((~mask.any(-1)).sum()),
                t("masks.t_layer"): share(flops.total / whole.total),
            }
        )
    show_table(rows)
    st.caption(t("masks.costs_note"))
