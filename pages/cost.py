"""What it costs: self-attention, convolution, recurrence; one head or many; real models; measured on this machine."""

import streamlit as st

from viz.core.architectures import convolution, recurrence, self_attention
from viz.core.cost import attention_flops, kv_cache_bytes, parameters
from viz.core.measure_cost import fit_exponent, measure
from viz.core.model_cost import model_flops
from viz.ui import cost, layout
from viz.ui.cost_measured import measured
from viz.ui.cost_models import models
from viz.views.mount import mount
from viz.views.paths import paths_data

scene = layout.open_page("cost", about=lambda _: None)  # the lead says it: the sizes are the visitor's
t = scene.t
sizes = cost.controls(scene)
layout.truth(t, cost.checks(sizes))

st.subheader(t("cost.table_title"), anchor=False)
cost.table(scene, sizes)

st.subheader(t("cost.curves_title"), anchor=False)
cost.curves(scene, sizes)

st.subheader(t("cost.parts_title"), anchor=False)
cost.parts(scene, sizes)

st.subheader(t("cost.memory_title"), anchor=False)
cost.memory(scene, sizes)

st.subheader(t("cost.path_title"), anchor=False)
st.markdown(t("cost.path_lead", k=sizes.k))
mount("paths", key="paths", data=paths_data(sizes, scene.labels, t))
st.caption(t("cost.path_note"))

st.subheader(t("cost.heads_title"), anchor=False)
st.markdown(t("cost.heads_lead"))
cost.one_or_many(scene, sizes)

st.subheader(t("cost.models_title"), anchor=False)
models(scene, sizes)

st.subheader(t("cost.measured_title"), anchor=False)
st.markdown(t("cost.measured_lead"))
measured(scene, sizes)

layout.source_code(
    t, attention_flops, parameters, kv_cache_bytes, self_attention, convolution, recurrence, model_flops, measure,
    fit_exponent,
)  # fmt: skip
