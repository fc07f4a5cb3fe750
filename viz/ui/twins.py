"""Three small decoders that differ in G alone: how they learned, what their heads do, what they expect next."""

from collections.abc import Mapping
from statistics import median

import streamlit as st
import torch
from torch import Tensor

from viz.core.measures import on_offset
from viz.core.sharing import induction
from viz.figures.sharing import learning
from viz.models.capture import Capture, Head
from viz.models.twins import GROUPS, Recipe, Run, runs, twin_id, unknown
from viz.models.twins import words as known_words
from viz.ui import compute, limits, state
from viz.ui.controls import KEEP
from viz.ui.layout import Scene, say_error, show
from viz.ui.share_kv import strip

TEXT = "the cat saw a red bird and the dog ran home . the cat saw a red"


def _by_group() -> dict[int, list[Run]]:
    return {g: [run for run in runs() if run.n_kv_heads == g] for g in GROUPS}


def learned(scene: Scene) -> None:
    """Loss and accuracy while they were trained, every seed tried."""
    t, by_group, recipe = scene.t, _by_group(), Recipe()
    seeds = len(by_group[GROUPS[0]])
    columns = st.columns(2)
    for column, what, top in zip(columns, ("loss", "accuracy"), (None, 1.0), strict=True):
        curves = {f"G = {g}": [getattr(run, what) for run in found] for g, found in by_group.items()}
        title = t(f"share_kv.{what}")
        with column:
            fig = learning(by_group[8][0].steps, curves, x_title=t("share_kv.steps"), y_title=title, top=top)
            show(fig, key=f"twins_{what}", alt=t("share_kv.learned_alt", what=title, seeds=seeds))
    st.caption(t("share_kv.learned_note", seeds=seeds, steps=recipe.steps))
    half = recipe.steps // 2
    st.dataframe(
        {
            "G": list(GROUPS),
            t("share_kv.t_all_model"): [_parameters(g) for g in GROUPS],
            t("share_kv.at_half", steps=half): [_spread(found, half) for found in by_group.values()],
            t("share_kv.at_end", steps=recipe.steps): [_spread(found, recipe.steps) for found in by_group.values()],
        },
        hide_index=True,
    )  # fmt: skip
    for g, found in by_group.items():
        if late := sum(run.accuracy[-1] < 0.5 for run in found):
            st.markdown(t("share_kv.learned_late", G=g, n=late, seeds=len(found)))


def _parameters(g: int) -> int:
    return sum(one.numel() for one in compute.model(twin_id(g)).model.parameters())


def _spread(found: list[Run], step: int) -> str:
    """Median, lowest and highest accuracy of several trainings after so many steps."""
    at = [run.accuracy[run.steps.index(step)] for run in found]
    return f"{median(at):.3f} ({min(at):.3f} – {max(at):.3f})"


def best_heads(seen: Capture) -> tuple[tuple[Head, float] | None, tuple[Head, float] | None]:
    """The head that looks most at the previous token, and the one that looks most at what came next last time.

    None where there is nothing of the kind to look at.
    """
    ids = torch.tensor(seen.tokens.ids)
    maps = torch.stack([seen.layer(i).weights for i in range(seen.n_layers)])
    previous = on_offset(maps, -1).mean(-1) if len(ids) > 1 else torch.zeros(maps.shape[:2])
    copying = torch.stack([induction(weights, ids) for weights in maps]).nan_to_num(0.0)
    return _best(previous), _best(copying)


def _best(values: Tensor) -> tuple[Head, float] | None:
    layer, head = divmod(int(values.argmax()), values.shape[1])
    return ((layer, head), float(values[layer, head])) if values[layer, head] > 0 else None


def _off() -> tuple[frozenset[Head], int]:
    """Which heads are switched off, and in which twin the maps are looked at."""
    twin = state.pick("twin", 2, GROUPS)
    off = state.numbers("twin_off", 0, Recipe.n_layers * Recipe.n_heads - 1)
    return frozenset(divmod(one, Recipe.n_heads) for one in off), twin


def on_your_words(scene: Scene) -> None:
    """All three on the visitor's words: what they expect next, and the heads behind it."""
    t = scene.t
    text = state.text("words", TEXT, limits.CHARACTERS)
    st.text_input(
        t("share_kv.words"), key="words", persist_state=KEEP, max_chars=limits.CHARACTERS, help=t("share_kv.words_help")
    )
    with st.expander(t("share_kv.known", n=len(known_words()))):
        st.text(" ".join(sorted(known_words())))
    if strange := unknown(text):
        st.text(t("share_kv.unknown", words=" ".join(strange[:20]) + (" …" if len(strange) > 20 else "")))
    off, twin = _off()
    sources = {g: compute.Source(kind="model", text=text, model=twin_id(g)) for g in GROUPS}
    try:
        whole = {g: compute.read(source) for g, source in sources.items()}
    except ValueError as error:
        say_error(t, error)
        return
    without = {g: compute.read(source, off) for g, source in sources.items()}
    n = len(whole[twin].tokens.ids)
    if n > Recipe.length:
        st.caption(t("share_kv.long", n=n, length=Recipe.length))
    _expected(scene, whole, without, bool(off))
    _switches(scene)
    _maps(scene, whole[twin], twin)


def _expected(scene: Scene, whole: Mapping[int, Capture], without: Mapping[int, Capture], off: bool) -> None:
    """The next word, and the two heads, of every twin."""
    t = scene.t
    rows: dict[str, list[str | int]] = {
        name: [] for name in ("G", "next", "p", *(("next_off", "p_off") if off else ()), "previous", "induction")
    }
    for g, seen in whole.items():
        rows["G"].append(g)
        for suffix, one in (("", seen), ("_off", without[g])) if off else (("", seen),):
            guess = one.predictions[0]
            rows[f"next{suffix}"].append(guess.labels[0])
            rows[f"p{suffix}"].append(f"{guess.probabilities[0]:.3f}")
        for name, best in zip(("previous", "induction"), best_heads(seen), strict=True):
            rows[name].append(f"{best[0][0]}·{best[0][1]}: {best[1]:.2f}" if best else "—")
    names = {"G": "G"} | {name: t(f"share_kv.x_{name}") for name in rows if name != "G"}
    st.dataframe({names[name]: values for name, values in rows.items()}, hide_index=True)
    st.caption(t("share_kv.expected_note"))


def _switches(scene: Scene) -> None:
    t = scene.t
    st.pills(
        t("share_kv.off"), list(range(Recipe.n_layers * Recipe.n_heads)), selection_mode="multi", key="twin_off",
        persist_state=KEEP, format_func=lambda one: "·".join(map(str, divmod(one, Recipe.n_heads))),
        help=t("share_kv.off_help"),
    )  # fmt: skip


def _maps(scene: Scene, seen: Capture, twin: int) -> None:
    t = scene.t
    st.segmented_control(
        t("share_kv.twin"), GROUPS, key="twin", required=True, persist_state=KEEP, format_func=lambda g: f"G = {g}"
    )
    n = min(len(seen.tokens.ids), limits.SHARED_TOKENS)
    best = {name: found[0] for name, found in zip(("previous", "induction"), best_heads(seen), strict=True) if found}
    if not best:
        return
    titles = [t(f"share_kv.{name}_map", layer=layer, head=head, G=twin) for name, (layer, head) in best.items()]
    maps = torch.stack([seen.layer(layer).weights[head] for layer, head in best.values()])[:, :n, :n]
    strip(scene, titles, maps, "twin_maps", seen.tokens.labels)
