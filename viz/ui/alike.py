"""What happens with depth on the Stacking page: tokens become alike, and heads look near or far."""

from collections.abc import Callable

import streamlit as st
import torch
from torch import Tensor

from viz.core.portrait import Portrait
from viz.figures.depth import Curve, depth
from viz.ui import compute_stacks
from viz.ui.compute_stacks import DESIGNS, Likeness
from viz.ui.layout import show
from viz.ui.stacking import Tower


def name_of(tower: Tower, residual: bool, normalize: bool) -> str:
    """What a design is called: what it has and what it lacks."""
    return tower.t(f"stacking.design_{int(residual)}{int(normalize)}")


def alike(tower: Tower) -> None:
    """Mean cosine and what is left beside the common part, level by level, with residuals and norms and without."""
    t = tower.t
    if len(tower.labels) == 1:
        st.info(t("stacking.one_word"))
        return
    found = compute_stacks.likeness(tower.source, tower.plan, tower.mask)
    named = {name_of(tower, *design): each for design, each in zip(DESIGNS, found, strict=True)}
    columns = st.columns(2)
    parts: dict[str, tuple[Callable[[Likeness], Tensor], bool]] = {
        "cosine": (lambda one: one.cosine, False), "residual": (lambda one: one.residual, True),
    }  # fmt: skip
    for column, (what, (take, log)) in zip(columns, parts.items(), strict=True):
        curves = [Curve(name=name, values=take(one)) for name, one in named.items()]
        fig = depth(curves, x_title=t("stacking.after_layer"), y_title=t(f"stacking.{what}"), log=log)
        with column:
            show(fig, key=f"alike_{what}", alt=t("stacking.alike_alt", what=t(f"stacking.{what}"), n=tower.depth))
    whole, bare = found[0], found[DESIGNS.index((False, True))]
    st.markdown(
        t(
            "stacking.alike_found", n=tower.depth, first=f"{whole.cosine[0]:.2f}", last=f"{whole.cosine[-1]:.2f}",
            bare=f"{bare.cosine[-1]:.2f}", left=f"{whole.residual[-1]:.2g}", bare_left=f"{bare.residual[-1]:.1g}",
        )
    )  # fmt: skip
    if not all(one.length.isfinite().all() for one in found):
        st.caption(t("stacking.overflow"))


def broad_or_local(tower: Tower) -> None:
    """Entropy and mean distance of the heads, layer by layer, beside an even spread."""
    t, tokens = tower.t, tower.tokens
    portraits, even = compute_stacks.portraits(tower.source, tower.plan, tower.mask)
    special = any(tokens.special)
    entropy = [_band(t("stacking.heads"), portraits, lambda one: one.entropy)]
    entropy.append(_flat(t("stacking.even"), even.entropy, tower.depth))
    distance = [
        _band(t("stacking.all_tokens") if special else t("stacking.heads"), portraits, lambda one: one.distance)
    ]
    if special:
        distance.append(_band(t("stacking.plain_tokens"), portraits, lambda one: one.distance_plain))
    distance.append(_flat(t("stacking.even"), even.distance, tower.depth))
    if special:
        distance.append(_flat(t("stacking.even_plain"), even.distance_plain, tower.depth))
    for column, what, curves in zip(st.columns(2), ("entropy", "distance"), (entropy, distance), strict=True):
        title = t(f"stacking.{what}")
        with column:
            fig = depth(curves, x_title=t("stacking.layer"), y_title=title)
            show(fig, key=f"broad_{what}", alt=t("stacking.broad_alt", what=title))
    st.caption(t("stacking.broad_note") + (" " + t("stacking.broad_special") if special else ""))
    _verdict(tower, {"entropy": entropy[0], "plain_distance" if special else "distance": distance[int(special)]})


def _band(name: str, portraits: tuple[Portrait, ...], take: Callable[[Portrait], Tensor]) -> Curve:
    heads = torch.stack([take(one) for one in portraits])
    return Curve(name=name, values=heads.mean(-1), low=heads.amin(-1), high=heads.amax(-1))


def _flat(name: str, value: Tensor, n_layers: int) -> Curve:
    return Curve(name=name, values=value.flatten()[:1].expand(n_layers), baseline=True)


def _verdict(tower: Tower, curves: dict[str, Curve]) -> None:
    """Counted, not claimed: how often the mean rises and falls, and how far apart the heads of one layer are."""
    t = tower.t
    if tower.depth < 2 or tower.scene.trace.projections.spec.H < 2 or tower.tokens.special.count(False) < 2:
        return
    for what, curve in curves.items():
        steps, change = curve.values.diff(), curve.values.max() - curve.values.min()
        assert curve.low is not None
        assert curve.high is not None
        st.markdown(
            t(
                "stacking.verdict", what=t(f"stacking.{what}_word"), up=int((steps > 0).sum()),
                down=int((steps < 0).sum()), change=f"{change:.2f}", spread=f"{(curve.high - curve.low).mean():.2f}",
            )
        )  # fmt: skip
    st.markdown(t("stacking.depth_says_trained" if tower.source.kind == "model" else "stacking.depth_says_seeded"))
