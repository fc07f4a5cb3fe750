"""Blocks upon blocks: where a word of the last layer comes from, how far it sees, and what depth does to tokens."""

import streamlit as st

from viz.core.block import stack
from viz.core.layer_sharing import layers_used
from viz.core.reach import cone, reach, sensitivity
from viz.core.rollout import flow, rollout, with_residual
from viz.core.similarity import mean_cosine, residual_share
from viz.ui import alike, layout, stacking, tied

scene = layout.open_page("stacking", about=stacking.about)
t = scene.t
badge = st.container()
tower = stacking.begin(scene)
stacking.model_check(tower)

st.subheader(t("stacking.from_title"), anchor=False)
st.latex(r"\hat A_l = \tfrac12 \bar A_l + \tfrac12 I \qquad R_l = \hat A_l\, R_{l-1}")
st.markdown(t("stacking.from_lead"))
stacking.where_from(tower)

st.subheader(t("stacking.field_title"), anchor=False)
st.markdown(t("stacking.field_lead"))
stacking.field_of(tower)

st.subheader(t("stacking.alike_title"), anchor=False)
st.latex(
    r"\frac{1}{T(T-1)} \sum_{i \ne j} \frac{x_i \cdot x_j}{\lVert x_i \rVert\, \lVert x_j \rVert}"
    r"\qquad \frac{\lVert X - \mathbf 1 \bar x^\top \rVert}{\lVert X \rVert}"
)
st.markdown(t("stacking.alike_lead"))
alike.alike(tower)

st.subheader(t("stacking.broad_title"), anchor=False)
st.markdown(t("stacking.broad_lead"))
alike.broad_or_local(tower)

st.subheader(t("stacking.sharing_title"), anchor=False)
st.markdown(t("stacking.sharing_lead"))
tied.shared(tower)
st.markdown(t("stacking.trained_lead"))
tied.trained(tower)

with badge:
    layout.truth(t, tower.checks)
layout.source_code(
    t, stack, with_residual, rollout, flow, reach, cone, sensitivity, mean_cosine, residual_share, layers_used
)
