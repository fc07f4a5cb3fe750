"""One head's scores under every mask, one scale; what each keeps and costs."""

from collections.abc import Mapping

import streamlit as st
import torch
from torch import Tensor

from pages.masks.checks import mask_check, weights_by_torch
from pages.masks.context import HUES, MasksContext, begin_painting
from viz.components.maps import Panel, pack_maps
from viz.components.mount import mount
from viz.core.analysis.checks import rounding
from viz.core.attention import row_softmax
from viz.core.cost.attention import attention_flops
from viz.frame import specs, state
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.show import show_table

STRIP = "every_mask"


def draw(context: MasksContext) -> list[Check]:
    """The same scores under every mask, one scale, each a button that opens it; and what each keeps and costs."""
    t, chosen = context.t, context.mask
    kinds = {kind: chosen if kind == chosen.kind else _usual(kind) for kind in specs.MASKS}
    if not kinds["painted"].painted:
        del kinds["painted"]
    allowed = {kind: context.laid_by(mask) & context.model_allowed for kind, mask in kinds.items()}
    masked = torch.stack([context.scores.masked_fill(~mask, -torch.inf) for mask in allowed.values()])
    weights = row_softmax(masked)
    panels = [
        Panel(
            code=kind,
            title=t(f"masks.name_{kind}"),
            alt=t("masks.map_alt", name=t(f"masks.name_{kind}")),
            labels=context.labels,
        )
        for kind in allowed
    ]
    packed = pack_maps(
        panels,
        weights,
        what="weights",
        limit=1.0,
        chosen=chosen.kind,
        hues=HUES,
        words={"says": t("map.looks"), "axes": t("masks.axes")},
    )
    mount("maps/maps", key=STRIP, data=packed, on_chosen_change=_open)
    _costs(context, allowed)
    by_torch = torch.stack([weights_by_torch(context, kinds[kind]) for kind in allowed])
    tolerance = rounding(context.q, context.k, context.options.get("scale"))
    return [
        mask_check(context, {kinds[kind]: shown for kind, shown in allowed.items()}),
        check("masks.check_every", (weights - by_torch).abs().max(), tolerance),
    ]


def _usual(kind: str) -> specs.Mask:
    """A kind of mask as it would open: with what the visitor set for it before."""
    names = ("width", "gap", "pad", "pad_left", "painted")
    return specs.Mask(kind=kind, **{n: st.session_state[n] for n in names if n in st.session_state})


def _open() -> None:
    kind = st.session_state[STRIP].get("chosen")
    if kind in specs.MASKS:
        state.put("mask", kind)
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
