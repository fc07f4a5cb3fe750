"""Three small decoders that differ in G alone, trained from scratch: the accuracy of every training."""

from collections.abc import Mapping, Sequence
from statistics import median
from urllib.parse import urlencode

import streamlit as st

from pages.share_kv import compute
from viz.figures.bar_table import Bar, bar_table
from viz.frame.checks import Check, check
from viz.frame.links import link_to
from viz.models.trained.twins import GROUPS, POINTS, REPEATING, Recipe, Run, point_id, runs, twin_id
from viz.text import Translate

REPEATED = 0.005
"""Tolerance of a repeated accuracy: other processors round differently, which flips a few words."""


def draw_trainings(t: Translate, lang: str) -> list[Check]:
    """Draw the accuracy halfway and at the end, of all seeds."""
    steps, by_group = Recipe().steps, {g: [run for run in runs() if run.n_kv_heads == g] for g in GROUPS}
    columns = {
        t(f"share_kv.{name}", steps=step): [_spread(group_runs, step) for group_runs in by_group.values()]
        for name, step in (("at_half", steps // 2), ("at_end", steps))
    }
    st.html(bar_table("", {f"G = {g}": "" for g in GROUPS}, columns))
    st.caption(t("share_kv.learned_note", seeds=len(by_group[GROUPS[0]])))
    _see_it_learn(t, lang)
    return [check("share_kv.check_learned", _repeated_error(by_group), REPEATED)]


def _see_it_learn(t: Translate, lang: str) -> None:
    """Draw a link to a twin before it copies beside the same twin afterwards."""
    g, steps = next(iter(POINTS.items()))
    models = {"source": "model", "model": point_id(g, steps[0]), "model_b": twin_id(g), "text": REPEATING}
    # The last word, and the word after it, occurred earlier in the text.
    models["query"] = str(len(REPEATING.split()) - 1)
    st.html(link_to(lang, ("heads", "compare", urlencode(models)), t("share_kv.see_it_learn", G=g, n=steps[0])))


def _spread(runs: Sequence[Run], step: int) -> Bar:
    """Return median, lowest and highest accuracy of several trainings after this many steps."""
    at = [run.accuracy[run.steps.index(step)] for run in runs]
    return Bar(median(at), min(at), max(at))


def _repeated_error(by_group: Mapping[int, Sequence[Run]]) -> float:
    """Return the difference between the recorded accuracy and the current one of the stored weights (seed 0)."""
    accuracies = {g: next(run.accuracy[-1] for run in runs if run.seed == 0) for g, runs in by_group.items()}
    return max(abs(compute.twin_accuracy(g) - accuracy) for g, accuracy in accuracies.items())
