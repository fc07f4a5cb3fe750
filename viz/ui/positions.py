"""Why positions are needed, and how they are added: the first parts of the Positions page."""

from collections.abc import Sequence

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from viz.core.attention import row_softmax
from viz.core.encodings import no_table, put_back, shuffled
from viz.figures.bars import bars
from viz.figures.matrix import matrix
from viz.ui import compute, state
from viz.ui.controls import KEEP
from viz.ui.ground import COLOURS, Ground
from viz.ui.layout import check, say_error, show
from viz.views.maps import Panel, pack_maps
from viz.views.mount import mount

ORDERS = ("shuffled", "reversed")


def new_order(ground: Ground, columns: Sequence[DeltaGenerator]) -> tuple[int, ...]:
    """How the visitor wants the words to stand; special tokens stay where they are."""
    t, special = ground.t, ground.tokens.special
    how = state.choice("order", "shuffled", ORDERS)
    seed = state.whole("shuffle", 0, 0, 999)
    columns[0].segmented_control(
        t("positions.order"), ORDERS, key="order", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"positions.order_{code}"),
    )  # fmt: skip
    columns[1].number_input(
        t("positions.shuffle"), 0, 999, key="shuffle", persist_state=KEEP, disabled=how == "reversed"
    )
    fixed = frozenset(i for i, one in enumerate(special) if one)
    if how == "shuffled":
        return tuple(shuffled(ground.n, seed, fixed).tolist())
    free = [i for i in range(ground.n) if i not in fixed]
    back = dict(zip(free, reversed(free), strict=True))
    return tuple(back.get(i, i) for i in range(ground.n))


def need(ground: Ground) -> None:
    """Without positions the weights only follow the words around; with positions they change."""
    t = ground.t
    columns = st.columns(3, vertical_alignment="bottom")
    order = new_order(ground, columns)
    if order == tuple(range(ground.n)):
        st.info(t("positions.one_word"))
        return
    if tuple(ground.tokens.ids[i] for i in order) == ground.tokens.ids:
        st.info(t("positions.same_words"))
        return
    with_codes = [code for code in ground.encodings if code != "none" and ground.fits(code)]
    usual = next(code for code in ("learned", "sinusoidal", "alibi") if code in with_codes)
    code = state.choice("need", usual, with_codes)
    columns[2].selectbox(
        t("positions.with"), with_codes, key="need", persist_state=KEEP,
        format_func=lambda code: t(f"positions.name_{code}"),
    )  # fmt: skip
    st.text(t("positions.as_written", text=" ".join(ground.tokens.labels)))
    st.text(t("positions.as_shuffled", text=" ".join(ground.tokens.labels[i] for i in order)))
    titles = {
        "none": t("positions.map_as_written", name=ground.name("none")),
        "none_moved": t("positions.map_put_back", name=ground.name("none")),
        code: t("positions.map_as_written", name=ground.name(code)),
        f"{code}_moved": t("positions.map_put_back", name=ground.name(code)),
    }
    maps = [m for each in ("none", code) for m in _before_and_after(ground, each, order)]
    panels = [Panel(code=key, title=title, alt=title, labels=ground.tokens.labels) for key, title in titles.items()]
    packed = pack_maps(
        panels, torch.stack(maps), what="weights", limit=1.0, gutter=True, words=ground.map_words(),
        hues=COLOURS,
    )  # fmt: skip
    mount("maps", key="need_maps", data=packed)
    without, changed = (float((a - b).abs().max()) for a, b in ((maps[0], maps[1]), (maps[2], maps[3])))
    st.markdown(t("positions.need_found", none=f"{without:.1e}", code=ground.name(code), changed=f"{changed:.2f}"))
    if code == "alibi" and _mirrored(order):
        st.caption(t("positions.need_mirror"))
    ground.checks.append(check("positions.check_need", without, 1e-5))
    _whole_model(ground, order)


def _mirrored(order: tuple[int, ...]) -> bool:
    """Whether all places are as far from each other as before: the order has been turned round."""
    return order == tuple(reversed(range(len(order))))


def _before_and_after(ground: Ground, code: str, order: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    before, after = row_softmax(ground.scores(code)), row_softmax(ground.scores(code, order))
    return before, put_back(after, torch.tensor(order))


def _whole_model(ground: Ground, order: tuple[int, ...]) -> None:
    """The same for every layer of a real model whose positions can be taken away and that has no mask."""
    source = ground.scene.choice.source
    if not source.heads_of or ground.rows is None:
        return
    plain, moved = (compute.placed(source, compute.Placing(order=each)) for each in ((), order))
    masks = [call.options.get("allowed") for call in plain.calls]
    if any(mask is not None and not mask.all() for mask in masks):
        st.caption(ground.t("positions.causal"))
        return
    places = torch.tensor(order)
    off = max(
        float((plain.layer(i).weights - put_back(moved.layer(i).weights, places)).abs().max())
        for i in range(plain.n_layers)
    )
    ground.checks.append(check("positions.check_model", off, 1e-4, layers=plain.n_layers))


def added(ground: Ground) -> None:
    """X, P and X + P under one scale, and how long their rows are."""
    t = ground.t
    codes = [code for code, encoding in ground.encodings.items() if encoding.table is not no_table]
    code = state.choice("added", codes[-1], codes)
    st.segmented_control(
        t("positions.added"), codes, key="added", required=True, persist_state=KEEP, label_visibility="collapsed",
        format_func=lambda code: t(f"positions.name_{code}"),
    )  # fmt: skip
    try:
        table = ground.encodings[code].table(*ground.vectors.shape)
    except ValueError as error:
        say_error(t, error)
        return
    parts = {"X": ground.vectors, "P": table, "X + P": ground.vectors + table}
    limit = float(torch.cat([values.abs().flatten() for values in parts.values()]).quantile(0.995))
    width = table.shape[1]
    columns = [str(i) if i % max(1, width // 4) == 0 else "" for i in range(width)]
    for place, (name, values) in zip(st.columns([10, 10, 11]), parts.items(), strict=True):
        fig = matrix(
            values, ground.tokens.labels, columns, kind="signed", limit=limit,
            row_title=t("axis.tokens"), column_title=t("positions.dimension"),
        )  # fmt: skip
        fig["layout"]["height"] = min(420, 110 + 12 * ground.n)
        fig["data"][0]["showscale"] = name == "X + P"  # one scale for all three
        with place:
            st.markdown(f"**{name}**")
            show(fig, key=f"added_{name}", alt=t("positions.added_alt", name=name, n=ground.n, d=width))
    norms = {f"‖{name}‖": values.norm(dim=-1) for name, values in parts.items()}
    means = [f"{float(norm.mean()):.2f}" for norm in norms.values()]
    st.markdown(t("positions.norms", x=means[0], p=means[1], sum=means[2]))
    ground.say_gain(code)
    fig = bars(ground.tokens.labels, norms, title=t("axis.tokens"), value_title=t("positions.length"), height=230)
    show(fig, key="norms", alt=t("positions.norms", x=means[0], p=means[1], sum=means[2]))
