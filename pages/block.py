"""The block around the heads: attention, add and norm, feed-forward, add and norm; every box opens its tensor."""

import streamlit as st

from viz.core.block import decoder_block, encoder_block
from viz.core.feed_forward import feed_forward
from viz.core.norm import layer_norm, rms_norm
from viz.ui import block, block_diagram, block_numbers, block_opened, layout

scene = layout.open_page("block", about=block.about)
t = scene.t
badge = st.container()
stage = block.build(scene)

left, right = st.columns([1, 1] if len(stage.towers) > 1 else [2, 3], gap="medium")
with left:
    st.markdown(t("block.diagram_lead"))
    chosen = block_diagram.choose(stage)
with right:
    block_opened.opened(stage, chosen)

st.subheader(t("block.points_title"), anchor=False)
st.markdown(t("block.points_lead"))
block_numbers.from_point_to_point(stage, chosen)

st.subheader(t("block.switches_title"), anchor=False)
st.markdown(t("block.switches_lead"))
block_numbers.switches(stage)

with badge:
    layout.truth(t, block_numbers.checks(stage))
layout.source_code(t, encoder_block, decoder_block, feed_forward, layer_norm, rms_norm)
