"""MHA, GQA and MQA under one slider: who shares keys and values with whom, what it saves and what it costs."""

import streamlit as st

from viz.core.cost import kv_cache_bytes
from viz.core.heads import share_kv as share_out
from viz.core.sharing import attend_shared, decode_step, pool_heads, repeat_kv
from viz.ui import kv_saves, layout, share_kv, twins

scene = layout.open_page("share_kv", about=layout.provenance_pooled)
t = scene.t
sharing = share_kv.choose(scene)
layout.truth(t, [*share_kv.checks(sharing), kv_saves.parameter_check(sharing)])
st.latex(r"\operatorname{head}_i = \operatorname{attend}\big(X W_Q^i,\; M W_K^{g(i)},\; M W_V^{g(i)}\big)")
st.latex(r"g(i) = \lfloor i\, G / H \rfloor")
share_kv.picture(sharing)

st.subheader(t("share_kv.saves_title"), anchor=False)
st.latex(r"P = 2\, d_{model} H d_k + 2\, d_{model}\, G\, d_k")
st.latex(r"C = 2\, L\, G\, d_k\, n\, B\, b")
st.markdown(t("share_kv.saves_lead"))
kv_saves.table(sharing)

st.subheader(t("share_kv.published_title"), anchor=False)
kv_saves.published(t)

st.subheader(t("share_kv.growing_title"), anchor=False)
st.markdown(t("share_kv.growing_lead"))
kv_saves.growing(sharing)

st.subheader(t("share_kv.convert_title"), anchor=False)
st.markdown(t("share_kv.convert_lead"))
share_kv.conversion(sharing)

st.subheader(t("share_kv.twins_title"), anchor=False)
st.markdown(t("share_kv.twins_lead"))
twins.learned(scene)
twins.on_your_words(scene)

st.subheader(t("share_kv.measure_title"), anchor=False)
kv_saves.measured(t)

layout.source_code(t, share_out, repeat_kv, attend_shared, pool_heads, decode_step, kv_cache_bytes)
