"""Far offsets, and a real head that lives by its positions: the last parts of the Positions page."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import normalize

from viz.core.encodings import offset_profile, shuffled
from viz.core.measures import on_offset, uniform
from viz.core.positions import frequencies, kernel, t5_buckets
from viz.figures.offsets import Curve, offset_curves
from viz.models.registry import ModelError
from viz.ui import compute, state
from viz.ui.controls import KEEP
from viz.ui.ground import Ground
from viz.ui.layout import say_error, show


def beyond(ground: Ground) -> None:
    """What each formula gives past the length a model was trained on."""
    t = ground.t
    usual = 64 if ground.rows is None else len(ground.rows)
    trained = state.whole("trained", usual, 8, 1024)
    st.slider(t("positions.trained"), 8, 1024, key="trained", persist_state=KEEP)
    curves = _far_curves(ground, trained)
    columns = [column for _ in range(0, len(curves), 3) for column in st.columns(3)]
    for column, (code, values) in zip(columns, curves.items(), strict=False):
        with column:
            st.markdown(f"**{ground.name(code)}**")
            fig = offset_curves(
                {ground.name(code): Curve(x=torch.arange(len(values)), y=values)}, height=190, marks=(trained,),
                x_title=t("positions.back"), y_title=t("positions.position_score"),
            )  # fmt: skip
            show(fig, key=f"far_{code}", alt=t("positions.far_alt", name=ground.name(code), n=trained))
            st.caption(_far_says(ground, code, values, trained))


def _far_curves(ground: Ground, trained: int) -> dict[str, Tensor]:
    """What position alone says about a key k places back, from 0 to twice the trained length."""
    far, spec, base = 2 * trained, ground.weights.spec, ground.placing.base
    makers: dict[str, Callable[[], Tensor]] = {
        "sinusoidal": lambda: kernel(far, spec.d_model, base=base),
        "rope_halves": lambda: kernel(far, spec.d_k, base=base),
    }
    for code in ("alibi", "t5", "quadratic"):
        makers[code] = partial(_bias_back, ground, code, far)
    if ground.rows is not None:
        rows = normalize(ground.rows[:trained], dim=-1)
        makers["learned"] = lambda: _only_trained(rows, far)
    curves = {}
    for code in ground.encodings:
        if code in makers:
            try:
                curves[code] = makers[code]()
            except ValueError as error:
                say_error(ground.t, error)
    return curves


def _bias_back(ground: Ground, code: str, far: int) -> Tensor:
    """A bias's own numbers for the chosen head, from the query's place backwards."""
    bias = ground.encodings[code].bias(ground.weights.spec.H, 1, far)
    assert bias is not None
    return bias[ground.head, 0].flip(0)


def _only_trained(rows: Tensor, far: int) -> Tensor:
    """The mean cosine of trained rows k apart; NaN where there is no row."""
    profile = offset_profile(rows @ rows.T)
    known = profile.mean[profile.offset >= 0]
    return torch.cat([known, torch.full((far - len(known),), torch.nan)])


def _far_says(ground: Ground, code: str, values: Tensor, trained: int) -> str:
    """What to read off a curve, in its own numbers."""
    end, case = len(values) - 1, ""
    numbers = {"n": str(trained), "end": _short(values[-1]), "at": _short(values[trained])}
    if code in ("sinusoidal", "rope_halves"):
        width = ground.weights.spec.d_model if code == "sinusoidal" else ground.weights.spec.d_k
        waves = 2 * math.pi / frequencies(width, base=ground.placing.base)
        slow = int((waves > trained).sum())
        numbers |= {"slow": str(slow), "pairs": str(len(waves))}
        case = "" if slow else "_all"
    elif code == "learned":
        assert ground.rows is not None
        numbers["known"] = str(min(trained, len(ground.rows)))
        case = "_cut" if trained < len(ground.rows) else ""
    elif code == "t5":
        flat = int(t5_buckets(-torch.arange(1024)).diff().nonzero().max()) + 1
        numbers |= {"flat": str(flat), "last": _short(_bias_back(ground, code, flat + 1)[-1])}
        case = "" if flat <= end else "_short"
    elif code == "quadratic":
        case = "" if ground.placing.alpha else "_zero"
    return ground.t(f"positions.far_{code}{case}", **numbers)


def _short(value: Tensor) -> str:
    """Two digits; a zero has no sign."""
    return f"{round(float(value), 2) + 0.0:.2f}"


def evidence(ground: Ground) -> None:
    """A head of a real model that looks at the previous token; with its positions taken away it no longer does."""
    t, source = ground.t, ground.scene.choice.source
    source = replace(source, kind="model", model=source.model or compute.DEFAULT_MODEL)
    try:
        plain = compute.placed(source, compute.Placing())
        rows = compute.own_rows(source)
    except ModelError as error:
        say_error(t, error)
        return
    if rows is None:
        st.info(t("positions.evidence_none", model=source.model))
        return
    ids, n = plain.tokens.ids, len(plain.tokens.ids)
    fixed = frozenset(i for i, special in enumerate(plain.tokens.special) if special)
    order = tuple(shuffled(n, st.session_state["shuffle"], fixed).tolist())
    if tuple(ids[i] for i in order) == ids:  # nothing was shuffled, so nothing would be shown
        st.info(t("positions.evidence_one" if order == tuple(range(n)) else "positions.same_words"))
        return
    own, own_moved = (compute.placed(source, compute.Placing(code="learned", order=each)) for each in ((), order))
    moved = compute.placed(source, compute.Placing(order=order))
    means = torch.stack([on_offset(own.layer(i).weights, -1).mean(-1) for i in range(own.n_layers)])
    layer, head = divmod(int(means.argmax()), means.shape[1])
    cases = {"own": own, "own_moved": own_moved, "zero": plain, "zero_moved": moved}
    found = {name: float(on_offset(each.layer(layer).weights, -1)[head].mean()) for name, each in cases.items()}
    st.markdown(t("positions.evidence_head", model=source.model, layer=layer, head=head, n=means.numel()))
    st.dataframe(
        [{"case": t(f"positions.case_{name}"), "weight": value} for name, value in found.items()],
        column_config={
            "case": st.column_config.TextColumn(t("positions.case")),
            "weight": st.column_config.ProgressColumn(
                t("positions.previous_weight"), format="%.2f", min_value=0, max_value=1
            ),
        },
        hide_index=True, key="evidence",
    )  # fmt: skip
    even = on_offset(uniform(own.layer(layer).masked[head].isfinite()), -1).mean()
    st.markdown(t("positions.evidence_says", even=f"{float(even):.2f}"))
