"""Attention in an encoder and a decoder: within the source, within the target, and across."""

import streamlit as st

from pages.block.attention_map import attention_map
from pages.block.checks import worst_checks
from pages.block.context import BlockContext, notes, say_outgrown, target_control
from pages.block.side import Side
from viz.core.heads import MultiHeadTrace
from viz.frame.checks import Check, check
from viz.frame.modes import say


def draw(context: BlockContext) -> list[Check]:
    """One head's weights in each of the three places, above the target that is written."""
    pictures = st.container()
    # The box of the target stands below the maps.
    target = context.target or target_control(context.t, context.source.text) or " "
    encoder, decoder = context.encoder, context.decoder(target)
    if say_outgrown(context, (encoder, decoder)):
        return []
    crossing = decoder.trace.cross
    assert crossing is not None
    with pictures:
        _maps(context, encoder, decoder, crossing)
    st.caption(context.t("axis.both"))
    say(context.t("block.three_found", source=len(encoder.labels), target=len(decoder.labels)))
    notes(context, (encoder, decoder))
    n, m = len(decoder.labels), len(context.source_labels)
    shape_off = max(abs(a - b) for a, b in zip(crossing.weights.shape[1:], (n, m), strict=True))
    return [
        check("block.check_ahead", decoder.trace.attention.weights.triu(1).abs().sum(), 0.0),
        check("block.check_shape", shape_off, 0.0, target=n, source=m),
        *worst_checks((*encoder.attentions, *decoder.attentions)),
    ]


def _kind_of_source_map(context: BlockContext) -> str:
    """The kind of the map within the source: "source", "masked", or "causal" where no word looks ahead."""
    if not context.encoder.is_masked:
        return "source"
    return "causal" if context.is_decoder_only or context.mask.kind in ("causal", "both") else "masked"


def _maps(context: BlockContext, encoder: Side, decoder: Side, crossing: MultiHeadTrace) -> None:
    t = context.t
    within = t(f"block.three_{_kind_of_source_map(context)}")
    source, target = context.source_labels, decoder.labels
    places = {
        within: (encoder.trace.attention, encoder.labels, encoder.labels),
        t("block.three_target"): (decoder.trace.attention, target, target),
        t("block.three_cross"): (crossing, target, source),
    }
    for at, (column, (title, arguments)) in enumerate(zip(st.columns(3, gap="medium"), places.items(), strict=True)):
        with column:
            attention_map(context, *arguments, key=f"block_three_{at}", title=title)
