"""Three small decoders that differ in G alone, trained from scratch: speed and accuracy of learning."""

from collections.abc import Mapping, Sequence
from statistics import median
from urllib.parse import urlencode

import streamlit as st

from pages.share_kv import compute
from pages.share_kv.context import ShareKvContext
from viz.figures.sharing import learning
from viz.frame.checks import Check, check
from viz.frame.compute import model
from viz.frame.links import link_to
from viz.frame.modes import say
from viz.frame.show import show_lines, show_table
from viz.models.trained.twins import GROUPS, POINTS, REPEATING, Recipe, Run, point_id, runs, twin_id

REPEATED = 0.005
"""Tolerance of a repeated accuracy: other processors round differently, which flips a few words."""


def draw(context: ShareKvContext) -> list[Check]:
    """Draw loss and accuracy during training, for every seed."""
    t, recipe = context.t, Recipe()
    by_group = {g: [run for run in runs() if run.n_kv_heads == g] for g in GROUPS}
    seeds, half = len(by_group[GROUPS[0]]), recipe.steps // 2
    columns = st.columns(2)
    for column, what, top in zip(columns, ("loss", "accuracy"), (None, 1.0), strict=True):
        curves = {f"G = {g}": [getattr(run, what) for run in group_runs] for g, group_runs in by_group.items()}
        title = t(f"share_kv.{what}")
        with column:
            steps = by_group[GROUPS[0]][0].steps
            fig = learning(steps, curves, x_title=t("share_kv.steps"), y_title=title, top=top)
            show_lines(fig, key=f"twins_{what}", alt=t("share_kv.learned_alt", what=title, seeds=seeds))
    st.caption(t("share_kv.learned_note", seeds=seeds, steps=recipe.steps))
    show_table(
        {
            "G": list(GROUPS),
            t("share_kv.t_all_model"): [_parameters(g) for g in GROUPS],
            t("share_kv.at_half", steps=half): [_spread(group_runs, half) for group_runs in by_group.values()],
            t("share_kv.at_end", steps=recipe.steps): [
                _spread(group_runs, recipe.steps) for group_runs in by_group.values()
            ],
        },
        column_config={t("share_kv.t_all_model"): st.column_config.NumberColumn(format="localized")},
    )
    for g, group_runs in by_group.items():
        if late := sum(run.accuracy[-1] < 0.5 for run in group_runs):
            say(t("share_kv.learned_late", G=g, n=late, seeds=len(group_runs)))
    _see_it_learn(context)
    return [check("share_kv.check_learned", _repeated_error(by_group), REPEATED)]


def _see_it_learn(context: ShareKvContext) -> None:
    """Draw a link to a twin before it copies beside the same twin afterwards."""
    g, steps = next(iter(POINTS.items()))
    models = {"source": "model", "model": point_id(g, steps[0]), "model_b": twin_id(g), "text": REPEATING}
    models["query"] = str(
        len(REPEATING.split()) - 1
    )  # its last word, and the word after it, occurred earlier in the text
    title = context.t("share_kv.see_it_learn", G=g, n=steps[0])
    st.html(link_to(context.scene.choice.lang, ("heads", "compare", urlencode(models)), title))


def _parameters(g: int) -> int:
    return sum(tensor.numel() for tensor in model(twin_id(g)).model.parameters())


def _spread(runs: Sequence[Run], step: int) -> str:
    """Return median, lowest and highest accuracy of several trainings after this many steps."""
    at = [run.accuracy[run.steps.index(step)] for run in runs]
    return f"{median(at):.3f} ({min(at):.3f} – {max(at):.3f})"


def _repeated_error(by_group: Mapping[int, Sequence[Run]]) -> float:
    """Return the difference between the recorded accuracy and the current one of the stored weights (seed 0)."""
    accuracies = {g: next(run.accuracy[-1] for run in runs if run.seed == 0) for g, runs in by_group.items()}
    return max(abs(compute.twin_accuracy(g) - accuracy) for g, accuracy in accuracies.items())
