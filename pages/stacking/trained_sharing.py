"""The cost of sharing a layer's weights on a task: small decoders trained for this page."""

from collections.abc import Mapping

import streamlit as st

from pages.stacking.context import StackingContext
from viz.figures.growth import learning
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.modes import say
from viz.frame.modes.figure_facts import stand_apart
from viz.frame.show import show_lines
from viz.models.trained import twins
from viz.models.trained.layer_sharing import N_KV_HEADS, STEPS, VARIANTS, Trained, trainings
from viz.text import Translate

EARLY, LEARNED = STEPS // 3, 0.9
"""First step to compare, the twins' own length of training; accuracy from which the task counts as learned."""

ByVariant = Mapping[str, list[Trained]]


def draw(context: StackingContext) -> list[Check]:
    """Draw the training of two separate layers, one layer used twice, and one layer used once."""
    t = context.t
    by_variant = {code: [training for training in trainings() if training.variant == code] for code in VARIANTS}
    by_variant = {code: runs for code, runs in by_variant.items() if runs}
    with st.container(key="section_trained_sharing"):
        _curves(t, by_variant)
        _verdict(t, by_variant)
    # The curves do not depend on the text.
    stand_apart("trained_sharing")
    return _checks(by_variant)


def _curves(t: Translate, by_variant: ByVariant) -> None:
    steps = next(iter(by_variant.values()))[0].run.steps
    curves = {
        t(f"stacking.trained_sharing.name_{code}"): [training.run.accuracy for training in trainings]
        for code, trainings in by_variant.items()
    }
    title = t("stacking.trained_sharing.accuracy")
    fig = learning(steps, curves, x_title=t("stacking.trained_sharing.steps"), y_title=title, top=1.0)
    show_lines(fig, key="tied_accuracy", alt=t("stacking.trained_sharing.alt", what=title))


def _verdict(t: Translate, by_variant: ByVariant) -> None:
    """Summarise the trainings in numbers."""
    independent, tied, single = (by_variant[code] for code in ("independent", "tied", "single"))

    def learned(runs: list[Trained], step: int) -> int:
        return sum(training.run.accuracy[training.run.steps.index(step)] > LEARNED for training in runs)

    best = max(max(training.run.accuracy) for training in single)
    size_share = share(tied[0].parameters / independent[0].parameters)
    counts = {
        f"{name}_{when}": learned(runs, step)
        for name, runs in (("own", independent), ("tied", tied))
        for when, step in (("early", EARLY), ("late", STEPS))
    }
    sizes = {"n_own": len(independent), "n_tied": len(tied), "early": amount(EARLY), "steps": amount(STEPS)}
    shares = {"right": LEARNED, "share": size_share, "single": f"{best:.2f}"}
    say(t("stacking.trained_sharing.shows", **counts, **sizes, **shares))


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
