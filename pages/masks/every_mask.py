"""One head's weights under every mask: thumbnails that choose one, and large maps with the cost of each mask."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.masks.checks import mask_check, weights_by_torch
from pages.masks.context import MasksContext, begin_painting, masked_softmax
from viz.components.maps import MAPS, Panel, pack_maps
from viz.core.analysis.checks import rounding
from viz.core.cost.attention import attention_flops
from viz.frame import specs
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.inputs import DETAILS, MASK, PAINTED_MASK
from viz.frame.scene import unsupported_part
from viz.frame.show import show_table
from viz.text import paragraph

THUMBNAILS, LARGE = "thumbnails", "every_mask"
"""Keys of the thumbnails and of the large maps."""


@dataclass(frozen=True, kw_only=True)
class EveryMask:
    """Every kind of mask with its details, its visible cells and the head's weights under it (masks, T, T)."""

    masks: Mapping[str, specs.Mask]
    visible: Mapping[str, Tensor]
    weights: Tensor


def every_mask(context: MasksContext) -> EveryMask:
    """Return the head's weights under every kind of mask; the painted one only if something is painted."""
    current = context.mask
    masks = {kind: current if kind == current.kind else _with_its_details(kind) for kind in specs.MASKS}
    if not masks["painted"].painted:
        del masks["painted"]
    visible = {kind: context.cells_of(mask) & context.model_allowed for kind, mask in masks.items()}
    weights = torch.stack([masked_softmax(context.scores, mask) for mask in visible.values()])
    return EveryMask(masks=masks, visible=visible, weights=weights)


def draw_thumbnails(context: MasksContext, masks: EveryMask) -> None:
    """Draw the thumbnails: each is a button that chooses its mask."""
    _mount(context, masks, THUMBNAILS, thumbnails=True)


def draw_large(context: MasksContext, masks: EveryMask) -> list[Check]:
    """Draw the maps large, on one scale, and a table of the visible cells and the cost of each mask."""
    _mount(context, masks, LARGE)
    _costs(context, masks.visible)
    by_torch = torch.stack([weights_by_torch(context, mask) for mask in masks.masks.values()])
    tolerance = rounding(context.q, context.k, context.options.get("scale"))
    return [
        mask_check(context, {masks.masks[kind]: visible for kind, visible in masks.visible.items()}),
        check("masks.check_every", (masks.weights - by_torch).abs().max(), tolerance),
    ]


def _mount(context: MasksContext, masks: EveryMask, key: str, **header: Any) -> None:
    t = context.t
    panels = [
        Panel(
            code=kind,
            title=t(f"masks.name_{kind}"),
            alt=t("masks.map_alt", name=t(f"masks.name_{kind}")),
            labels=context.labels,
        )
        for kind in masks.masks
    ]
    packed = pack_maps(
        panels,
        masks.weights,
        what="weights",
        limit=1.0,
        chosen=context.mask.kind,
        **header,
    )
    MAPS.mount(
        key=key,
        data=packed,
        words={"says": t("map.looks"), "axes": paragraph(t("axis.both"), t("masks.strength"))},
        on={"chosen": _open},
    )


def _with_its_details(kind: str) -> specs.Mask:
    """Return a kind of mask with the user's last details."""
    details: dict[str, Any] = {detail.name: detail.value for detail in (*DETAILS, PAINTED_MASK) if detail.has_value}
    return specs.Mask(kind=kind, **details)


def _open(kind: str) -> None:
    if kind in specs.MASKS:
        MASK.set(kind)
        begin_painting()


def _costs(context: MasksContext, visible_by_kind: Mapping[str, Tensor]) -> None:
    t, spec, n = context.t, context.scene.trace.projections.spec, context.n
    rows, full_cost = [], attention_flops(spec, n_queries=n, n_keys=n)
    # Only a plain layer has the four projections that are counted here.
    is_plain = not unsupported_part(context.scene.call, ("sink",))
    for kind, mask in visible_by_kind.items():
        n_visible = int(mask.sum())
        flops = attention_flops(spec, n_queries=n, n_keys=n, n_pairs=n_visible)
        rows.append(
            {
                t("masks.t_mask"): f"{'→ ' * (kind == context.mask.kind)}{t(f'masks.name_{kind}')}",
                t("masks.t_kept"): f"{n_visible:,} / {n * n:,}",
                t("masks.t_share"): share(n_visible / n**2),
                t("masks.t_blind"): int((~mask.any(-1)).sum()),
            }
            | ({t("masks.t_layer"): share(flops.total / full_cost.total)} if is_plain else {})
        )
    show_table(rows)
    st.caption(t("masks.costs_note"))
