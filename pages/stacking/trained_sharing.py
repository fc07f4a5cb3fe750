"""The cost of sharing a layer's weights on a task: small decoders trained for this page."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import streamlit as st
import torch

from pages.stacking.context import StackingContext
from viz.figures.sharing import learning
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.modes import say
from viz.frame.show import show_lines, show_table
from viz.models.trained import twins
from viz.models.trained.layer_sharing import N_KV_HEADS, STEPS, VARIANTS, Trained, trainings
from viz.text import Translate, join_names

EARLY, LEARNED = STEPS // 3, 0.9
"""First step to compare, the twins' own length of training; accuracy from which the task counts as learned."""
USED = 0.2
"""Mean weight on a word from which a head counts as attending to it."""

ByVariant = Mapping[str, list[Trained]]


def draw(context: StackingContext) -> list[Check]:
    """Draw the training of two separate layers, one layer used twice, and one layer used once."""
    t = context.t
    by_variant = {code: [training for training in trainings() if training.variant == code] for code in VARIANTS}
    by_variant = {code: runs for code, runs in by_variant.items() if runs}
    _curves(t, by_variant)
    _verdict(t, by_variant)
    _table(t, by_variant)
    _passes(context, by_variant["tied"][0])
    return _checks(by_variant)


def _curves(t: Translate, by_variant: ByVariant) -> None:
    steps = next(iter(by_variant.values()))[0].run.steps
    for column, what, top in zip(st.columns(2), ("accuracy", "loss"), (1.0, None), strict=True):
        curves = {
            t(f"stacking.trained_sharing.name_{code}"): [getattr(training.run, what) for training in trainings]
            for code, trainings in by_variant.items()
        }
        title = t(f"stacking.trained_sharing.{what}")
        with column:
            fig = learning(steps, curves, x_title=t("stacking.trained_sharing.steps"), y_title=title, top=top)
            show_lines(fig, key=f"tied_{what}", alt=t("stacking.trained_sharing.alt", what=title))


def _table(t: Translate, by_variant: ByVariant) -> None:
    columns: dict[str, Sequence[Any]] = {
        "variant": [t(f"stacking.trained_sharing.name_{code}") for code in by_variant],
        "parameters": [trainings[0].parameters for trainings in by_variant.values()],
        "passes": [len(trainings[0].look.previous) for trainings in by_variant.values()],
    }
    table = {t(f"stacking.trained_sharing.t_{code}"): values for code, values in columns.items()}
    for step in (EARLY, STEPS):
        spreads = [_spread(trainings, step) for trainings in by_variant.values()]
        table[t("stacking.trained_sharing.t_at", n=amount(step))] = spreads
    table[t("stacking.trained_sharing.t_seeds")] = [len(trainings) for trainings in by_variant.values()]
    grouped = {t("stacking.trained_sharing.t_parameters"): st.column_config.NumberColumn(format="localized")}
    show_table(table, column_config=grouped)


def _verdict(t: Translate, by_variant: ByVariant) -> None:
    """Summarise the trainings in numbers."""
    independent, tied, single = (by_variant[code] for code in ("independent", "tied", "single"))

    def learned(runs: list[Trained], step: int) -> int:
        return sum(_accuracy(training, step) > LEARNED for training in runs)

    best = max(max(training.run.accuracy) for training in single)
    size_share = share(tied[0].parameters / independent[0].parameters)
    counts = {
        "n_own": len(independent),
        "own_early": learned(independent, EARLY),
        "own_late": learned(independent, STEPS),
        "n_tied": len(tied),
        "tied_early": learned(tied, EARLY),
        "tied_late": learned(tied, STEPS),
    }
    sizes = {
        "early": amount(EARLY),
        "steps": amount(STEPS),
        "right": LEARNED,
        "share": size_share,
        "single": f"{best:.2f}",
    }
    say(t("stacking.trained_sharing.shows", **counts, **sizes))


def _accuracy(training: Trained, step: int) -> float:
    return training.run.accuracy[training.run.steps.index(step)]


def _spread(trainings: list[Trained], step: int) -> str:
    at = [_accuracy(training, step) for training in trainings]
    return f"{median(at):.2f} ({min(at):.2f} – {max(at):.2f})"


def _passes(context: StackingContext, training: Trained) -> None:
    """Draw the statistics of the heads in each pass through the shared layer."""
    t, look = context.t, training.look
    columns: dict[str, list[float]] = {t("stacking.trained_sharing.head"): list(range(len(look.previous[0])))}
    for i, (previous, following) in enumerate(zip(look.previous, look.next, strict=True), 1):
        columns[t("stacking.trained_sharing.pass_previous", n=i)] = [round(value, 2) for value in previous]
        columns[t("stacking.trained_sharing.pass_next", n=i)] = [round(value, 2) for value in following]
    both = (torch.tensor(look.previous[0]) > USED) & (torch.tensor(look.next[-1]) > USED)
    heads = [str(i) for i in both.nonzero().flatten().tolist()]
    say(t("stacking.trained_sharing.passes", seed=training.run.seed))
    two_digits = st.column_config.NumberColumn(format="%.2f")
    weights = {name: two_digits for name in columns if name != t("stacking.trained_sharing.head")}
    show_table(columns, column_config=weights)
    if heads:
        say(t("stacking.trained_sharing.both", heads=join_names(t, heads)))
    else:
        say(t("stacking.trained_sharing.apart"))


def parameters_by_formula(variant: str) -> int:
    """Return the parameters: two word tables, the last norm, and for each set of weights W_Q, W_K, W_V, W_O, three
    matrices of the feed-forward part, and two norms.
    """
    recipe = twins.Recipe()
    d, sets = recipe.d_model, recipe.n_layers if variant == "independent" else 1
    narrow = d * N_KV_HEADS // recipe.n_heads
    layer = 2 * d * d + 2 * d * narrow + 3 * d * recipe.d_ff + 2 * d
    return 2 * (len(twins.words()) + 1) * d + sets * layer + d


def _checks(by_variant: ByVariant) -> list[Check]:
    """Check the record by independent means: sizes by a formula, and the twins' own, shorter training."""
    sizes = [
        abs(training.parameters - parameters_by_formula(code))
        for code, trainings in by_variant.items()
        for training in trainings
    ]
    twin_runs = {run.seed: run for run in twins.runs() if run.n_kv_heads == N_KV_HEADS}
    apart = [
        abs(a - b)
        for training in by_variant["independent"]
        if training.run.seed in twin_runs
        for a, b in zip(twin_runs[training.run.seed].loss, training.run.loss, strict=False)
    ]
    return [
        check("stacking.check_sizes", max(sizes), 0.0),
        check("stacking.check_twins", max(apart, default=float("nan")), 1e-6, steps=EARLY),
    ]
