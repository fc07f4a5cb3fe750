"""Where a word is: why attention needs to be told, and the ways to tell it."""

import streamlit as st

from viz.core.encodings import encode, put_back
from viz.core.positions import alibi, rope, rotation, sinusoidal, t5_buckets
from viz.core.relative import quadratic_scores
from viz.ui import beyond, encodings, layout, positions, rotary, sinusoids
from viz.ui.ground import about, stand

scene = layout.open_page("positions", about=about)
t = scene.t
badge = st.container()
ground = stand(scene)
if ground.n < len(scene.labels):
    st.caption(t("positions.first", n=ground.n))

st.subheader(t("positions.need_title"), anchor=False)
st.markdown(t("positions.need_lead"))
positions.need(ground)

st.subheader(t("positions.sinusoids_title"), anchor=False)
st.latex(
    r"\begin{aligned} p_{i,2j} &= \sin\big(i / b^{2j/D}\big) \\ p_{i,2j+1} &= \cos\big(i / b^{2j/D}\big) \end{aligned}"
)
st.markdown(t("positions.sinusoids_lead"))
sinusoids.explorer(ground)

st.subheader(t("positions.added_title"), anchor=False)
st.markdown(t("positions.added_lead", d=ground.vectors.shape[1]))
positions.added(ground)

st.subheader(t("positions.why_title"), anchor=False)
st.latex(r"\begin{aligned} p_{i+k} &= R_k\, p_i \\ p_i \cdot p_{i+k} &= \sum_j \cos k\omega_j \end{aligned}")
st.markdown(t("positions.why_lead"))
sinusoids.shift(ground)
sinusoids.distance_only(ground)

st.subheader(t("positions.compare_title"), anchor=False)
st.markdown(t("positions.compare_lead"))
encodings.compare(ground)

st.subheader(t("positions.rope_title"), anchor=False)
st.latex(r"(\rho_i\, q) \cdot (\rho_j\, k) = q \cdot (\rho_{j-i}\, k)")
st.markdown(t("positions.rope_lead"))
rotary.rotate(ground)

st.subheader(t("positions.beyond_title"), anchor=False)
st.markdown(t("positions.beyond_lead"))
beyond.beyond(ground)

st.subheader(t("positions.evidence_title"), anchor=False)
beyond.evidence(ground)

with badge:
    layout.truth(t, ground.checks)
layout.source_code(t, sinusoidal, rotation, rope, alibi, t5_buckets, quadratic_scores, encode, put_back)
