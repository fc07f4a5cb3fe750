"""Who may look at whom: masks ready-made and painted, what the softmax makes of them, and a text that grows."""

import streamlit as st

from viz.core.attention import row_softmax
from viz.core.broken_masks import bare_softmax, filled_softmax, masked_after, through_mha
from viz.core.incremental import decode, newcomers_share
from viz.core.masks import causal, dilated, padding, prefix, window
from viz.core.sharing import decode_step
from viz.ui import decoding, layout, mask_lessons, masks

scene = layout.open_page("masks")
t = scene.t
badge = st.container()
board = masks.begin(scene)
masks.painter(board)
masks.blocked(board)

st.subheader(t("masks.every_title"), anchor=False)
st.latex(r"A_{ij} = \frac{M_{ij}\, e^{s_{ij}}}{\sum_m M_{im}\, e^{s_{im}}}")
st.markdown(t("masks.every_lead", head=board.head))
masks.every_mask(board)

st.subheader(t("masks.growing_title"), anchor=False)
st.markdown(t("masks.growing_lead", head=board.head))
decoding.growing(board)

st.subheader(t("masks.empty_title"), anchor=False)
st.markdown(t("masks.empty_lead"))
mask_lessons.empty_row(board)

st.subheader(t("masks.late_title"), anchor=False)
st.markdown(t("masks.late_lead"))
mask_lessons.too_late(board)

st.subheader(t("masks.polarity_title"), anchor=False)
st.markdown(t("masks.polarity_lead"))
mask_lessons.polarity(board)

with badge:
    layout.truth(t, decoding.checks(board))
layout.source_code(
    t, causal, padding, window, dilated, prefix, row_softmax, bare_softmax, filled_softmax, masked_after, through_mha,
    decode, decode_step, newcomers_share,
)  # fmt: skip
