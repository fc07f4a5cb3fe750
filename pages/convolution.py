"""Attention that is a convolution: alpha and Delta, in one and two dimensions, built, learned, and looked for."""

import streamlit as st

from viz.core.fit import fit_windows
from viz.core.learn_conv import learn
from viz.core.relative import axial_layer, heads_from_kernel, position_vectors, quadratic_scores, value_heads
from viz.ui import beside_conv2d, convolution, layout, lesson, likeness, picture

scene = layout.open_page("convolution")
t = scene.t
badge = st.container()
bench = convolution.Bench(scene=scene)

st.subheader(t("convolution.windows_title"), anchor=False)
st.latex(
    r"\begin{aligned} v \cdot r_\delta &= -\alpha\,(1, -2\Delta) \cdot (\delta^2, \delta)"
    r" \\ &= -\alpha\,(\delta - \Delta)^2 + \alpha\Delta^2, \quad \delta = j - i \end{aligned}"
)
st.markdown(t("convolution.windows_lead"))
convolution.windows(bench)

st.subheader(t("convolution.filters_title"), anchor=False)
st.markdown(t("convolution.filters_lead"))
convolution.filters(bench)

st.subheader(t("convolution.picture_title"), anchor=False)
st.latex(
    r"A^{(h)}_{ij} \propto e^{-\alpha_h \lVert \delta - \Delta_h \rVert^2}, \qquad \delta, \Delta_h \in \mathbb{R}^2"
)
st.markdown(t("convolution.picture_lead"))
setting = picture.choose(bench)
picture.live(bench, setting)
beside_conv2d.compare(bench, setting)
beside_conv2d.error_curve(bench, setting)

st.subheader(t("convolution.border_title"), anchor=False)
st.markdown(t("convolution.border_lead"))
beside_conv2d.borders(bench, setting)

st.subheader(t("convolution.w_o_title"), anchor=False)
beside_conv2d.blocks(bench, setting)

st.subheader(t("convolution.lesson_title"), anchor=False)
st.markdown(t("convolution.lesson_lead"))
classroom = lesson.lesson(t)

st.subheader(t("convolution.beyond_title"), anchor=False)
st.markdown(t("convolution.beyond_lead"))
likeness.receptive_field(bench)

st.subheader(t("convolution.likeness_title"), anchor=False)
st.markdown(t("convolution.likeness_lead"))
likeness.likeness(bench)

with badge:
    layout.truth(t, bench.checks)
layout.source_code(
    t, quadratic_scores, position_vectors, value_heads, heads_from_kernel, axial_layer, learn, fit_windows
)
classroom.run()
