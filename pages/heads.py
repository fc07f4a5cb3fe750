"""Every head of a layer at once, one of them large, and what leaves them."""

import streamlit as st

from viz.core.attention import attend
from viz.figures.matrix import matrix
from viz.ui import layout

scene = layout.open_page("heads")
st.plotly_chart(
    matrix(
        scene.trace.weights[min(1, scene.trace.weights.shape[0] - 1)],
        scene.labels,
        scene.labels,
        kind="weights",
        row_title=scene.t("axis.queries"),
        column_title=scene.t("axis.keys"),
    )
)
layout.source_code(scene.t, attend)
