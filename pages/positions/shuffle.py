"""The need for positions: the words in another order, with positions and without."""

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute, orders
from pages.positions.checks import map_checks
from pages.positions.context import PositionsContext, refuse_later_layer
from viz.components.maps import show_maps
from viz.core.analysis.checks import worst
from viz.core.attention import row_softmax
from viz.core.variants.encodings import restore_order
from viz.frame import specs
from viz.frame.checks import Check, check
from viz.frame.format import at_most
from viz.frame.modes import say
from viz.params import Choice

ORDER = Choice("order", among=("shuffled", "reversed"))
NEED = Choice(
    "need",
    lambda codes: next(code for code in ("learned", "sinusoidal", "alibi") if code in codes),
    among=lambda codes: codes,
)
"""The encoding to compare with "no positions"."""


def draw(context: PositionsContext) -> list[Check]:
    """Draw both orders: without positions the weights only follow the words; with positions they change."""
    refuse_later_layer(context.scene)
    t, tokens, pictures = context.t, context.tokens, st.container()
    with st.container(key="need_controls", horizontal=True, vertical_alignment="bottom"):
        order = _chosen_order(context)
        if orders.reads_the_same(tokens, order):
            st.info(t("positions.same_order"))
            return []
        code = _other_encoding(context)
    before, after = _both(context, "none", order)
    with_positions, shuffled = _both(context, code, order)
    with pictures:
        _maps(context, code, torch.stack([before, after, with_positions, shuffled]))
    without, change = (float((a - b).abs().max()) for a, b in ((before, after), (with_positions, shuffled)))
    say(t("positions.need_found", none=at_most(without), code=context.name(code), changed=at_most(change)))
    st.text(t("positions.as_written", text=" ".join(tokens.labels)))
    st.text(t("positions.as_shuffled", text=" ".join(tokens.labels[i] for i in order)))
    weights_by_code = {"none": before, code: with_positions}
    maps = map_checks(context, {name: context.scores(name) for name in weights_by_code}, weights_by_code)
    return [check("positions.check_need", without, 1e-5), *maps, *_whole_model(context, order)]


def _chosen_order(context: PositionsContext) -> tuple[int, ...]:
    """Return the order that the user selected."""
    t = context.t
    how = ORDER.segments(t("positions.order"), says=lambda code: t(f"positions.order_{code}"))
    # The seed is in the link for every order.
    orders.SHUFFLE.read()
    orders.shuffle_again(t("positions.shuffle_again"), key="shuffle_words", disabled=how == "reversed")
    return orders.shuffled_order(context.tokens) if how == "shuffled" else orders.backward_order(context.tokens)


def _other_encoding(context: PositionsContext) -> str:
    """Return the encoding to compare with "no positions"."""
    t = context.t
    codes = [code for code in context.encodings if code != "none" and context.fits(code)]
    # A label holds names, and no tensor.
    names = {code: context.name(code) for code in codes}
    return NEED.selectbox(t("positions.with"), codes, says=names.__getitem__, width=300)


def _both(context: PositionsContext, code: str, order: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return the weights of the words as written, and in the new order with every cell moved back to its words."""
    before, after = row_softmax(context.scores(code)), row_softmax(context.scores(code, order))
    return before, restore_order(after, torch.tensor(order))


def _maps(context: PositionsContext, code: str, maps: Tensor) -> None:
    t, labels = context.t, context.tokens.labels
    titles = [
        t(f"positions.map_{which}", name=context.name(encoding))
        for encoding in ("none", code)
        for which in ("as_written", "put_back")
    ]
    show_maps(t, titles, maps, labels, key="need_maps", axes=t("positions.axes"))


def _whole_model(context: PositionsContext, order: tuple[int, ...]) -> list[Check]:
    """Check the same for every layer of a real model whose positions can be removed and that has no mask."""
    source, plain = context.scene.choice.source, context.unplaced
    if not source.heads_of or context.rows is None:
        return []
    masks = [call.options.get("allowed") for call in plain.calls]
    if any(mask is not None and not mask.all() for mask in masks):
        st.caption(context.t("positions.causal"))
        return []
    shuffled, places = compute.place_tokens(source, specs.Placing(order=order)), torch.tensor(order)
    off = worst(
        float((plain.layer(i).weights - restore_order(shuffled.layer(i).weights, places)).abs().max())
        for i in range(plain.n_layers)
    )
    return [check("positions.check_model", off, 1e-4, layers=plain.n_layers)]
