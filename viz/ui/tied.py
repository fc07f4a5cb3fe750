"""Layers that share their weights, on the Stacking page: what it saves, what it does, and its price on a task."""

import math
from collections.abc import Mapping
from statistics import median

import streamlit as st
import torch

from viz.core.layer_sharing import layers_used
from viz.figures.depth import Curve, depth
from viz.figures.sharing import learning
from viz.models.tied import STEPS, VARIANTS, Trained, trainings
from viz.ui import compute_stacks, state
from viz.ui.compute_stacks import Sharing
from viz.ui.controls import KEEP
from viz.ui.layout import check, show
from viz.ui.stacking import Tower

EARLY, LEARNED = STEPS // 3, 0.9
"""Steps after which it is looked at first, the twins' own; and the accuracy from which the trick counts as learned."""


def shared(tower: Tower) -> None:
    """The same depth with fewer sets of weights: parameters, work and activations."""
    t, n = tower.t, tower.depth
    sets = state.whole("sets", max(1, n // 2), 1, n)
    if n > 1:
        st.slider(t("stacking.sets"), 1, n, key="sets", persist_state=KEEP, help=t("stacking.sets_help"))
    asked = tuple(sorted({n, sets, 1}, reverse=True))
    found = [compute_stacks.sharing(tower.source, tower.plan, tower.mask, one) for one in asked]
    st.dataframe(
        {
            t("stacking.t_sets"): [_name(tower, one) for one in found],
            t("stacking.t_layers"): [_layers(n, one.n_sets) for one in found],
            t("stacking.t_parameters"): [one.parameters for one in found],
            t("stacking.t_share"): [f"{100 * one.parameters / found[0].parameters:.0f} %" for one in found],
            t("stacking.t_flops"): [one.flops for one in found],
            t("stacking.t_cosine"): [_cosine(one) for one in found],
            t("stacking.t_length"): [f"{one.likeness.length[-1]:.3g}" for one in found],
        },
        hide_index=True,
    )  # fmt: skip
    st.caption(t("stacking.sharing_model" if tower.source.kind == "model" else "stacking.sharing_seeded"))
    more = max(abs(one.flops - found[0].flops) for one in found)
    if len(found) > 1:
        tower.checks.append(check("stacking.check_flops", more, 0.0))
    columns = st.columns(2)
    for column, what in zip(columns, ("cosine", "length"), strict=True):
        curves = [Curve(name=_name(tower, one), values=getattr(one.likeness, what)) for one in found]
        title = t(f"stacking.{what}")
        with column:
            fig = depth(curves, x_title=t("stacking.after_layer"), y_title=title)
            show(fig, key=f"sharing_{what}", alt=t("stacking.alike_alt", what=title, n=n))


def _name(tower: Tower, one: Sharing) -> str:
    code = "all" if one.n_sets == 1 else "none" if one.n_sets == tower.depth else "groups"
    return tower.t(f"stacking.shared_{code}", n=one.n_sets)


def _cosine(one: Sharing) -> str:
    """Of the last layer; a lone token has nothing to be compared with."""
    last = float(one.likeness.cosine[-1])
    return "–" if math.isnan(last) else f"{last:.2f}"


def _layers(n_layers: int, n_sets: int) -> str:
    return " ".join(map(str, layers_used(n_layers, n_sets)))


def trained(tower: Tower) -> None:
    """Small decoders trained for this page: two layers of their own, one layer used twice, one layer used once."""
    t = tower.t
    by_variant = {code: [one for one in trainings() if one.variant == code] for code in VARIANTS}
    by_variant = {code: found for code, found in by_variant.items() if found}
    names = {code: t(f"stacking.variant_{code}") for code in by_variant}
    seeds = min(len(found) for found in by_variant.values())
    steps = next(iter(by_variant.values()))[0].run.steps
    for column, what, top in zip(st.columns(2), ("loss", "accuracy"), (None, 1.0), strict=True):
        curves = {names[code]: [getattr(one.run, what) for one in found] for code, found in by_variant.items()}
        title = t(f"stacking.{what}")
        with column:
            fig = learning(steps, curves, x_title=t("stacking.steps"), y_title=title, top=top)
            show(fig, key=f"tied_{what}", alt=t("stacking.trained_alt", what=title, n=seeds))
    st.dataframe(
        {
            t("stacking.t_variant"): list(names.values()),
            t("stacking.t_parameters"): [found[0].parameters for found in by_variant.values()],
            t("stacking.t_passes"): [len(found[0].look.previous) for found in by_variant.values()],
            t("stacking.t_at", n=EARLY): [_spread(found, EARLY) for found in by_variant.values()],
            t("stacking.t_at", n=STEPS): [_spread(found, STEPS) for found in by_variant.values()],
            t("stacking.t_seeds"): [len(found) for found in by_variant.values()],
        },
        hide_index=True,
    )  # fmt: skip
    st.caption(t("stacking.trained_note", n=seeds))
    _verdict(tower, by_variant)
    _passes(tower, by_variant["tied"][0])


def _verdict(tower: Tower, by_variant: Mapping[str, list[Trained]]) -> None:
    """What the trainings say, counted."""
    own, tied, single = by_variant["independent"], by_variant["tied"], by_variant["single"]

    def learned(found: list[Trained], step: int) -> int:
        return sum(_accuracy(one, step) > LEARNED for one in found)

    counts = {
        "own": len(own), "own_early": learned(own, EARLY), "own_late": learned(own, STEPS),
        "tied": len(tied), "tied_early": learned(tied, EARLY), "tied_late": learned(tied, STEPS),
    }  # fmt: skip
    best, share = max(max(one.run.accuracy) for one in single), round(100 * tied[0].parameters / own[0].parameters)
    said = {"early": EARLY, "steps": STEPS, "right": LEARNED, "share": share, "single": f"{best:.2f}"}
    st.markdown(tower.t("stacking.trained_found", **counts, **said))
    st.caption(tower.t("stacking.albert"))


def _accuracy(one: Trained, step: int) -> float:
    return one.run.accuracy[one.run.steps.index(step)]


def _spread(found: list[Trained], step: int) -> str:
    at = [_accuracy(one, step) for one in found]
    return f"{median(at):.3f} ({min(at):.3f} – {max(at):.3f})"


def _passes(tower: Tower, one: Trained) -> None:
    """What the same heads do in each pass through the one layer."""
    t, look = tower.t, one.look
    columns: dict[str, list[float]] = {t("stacking.head"): list(range(len(look.previous[0])))}
    for i, (previous, following) in enumerate(zip(look.previous, look.next, strict=True), 1):
        columns[t("stacking.pass_previous", n=i)] = [round(value, 2) for value in previous]
        columns[t("stacking.pass_next", n=i)] = [round(value, 2) for value in following]
    st.markdown(t("stacking.passes", seed=one.run.seed))
    st.dataframe(columns, hide_index=True)
    both = (torch.tensor(look.previous[0]) > 0.2) & (torch.tensor(look.next[-1]) > 0.2)
    heads = ", ".join(str(i) for i in both.nonzero().flatten().tolist())
    st.markdown(t("stacking.passes_both", heads=heads) if heads else t("stacking.passes_apart"))
