"""Every head of the model at once, one of them large, what leaves them, and why not to believe a weight too soon."""

import streamlit as st

from viz.core.attention import attend, row_softmax
from viz.core.heads import merge_heads
from viz.core.measures import message_norms
from viz.ui import compute, export, heads, layout
from viz.ui.grid import grid

scene = layout.open_page("heads")
t = scene.t
layout.truth(t, layout.attention_checks(scene.trace))

view = heads.view_controls(scene)
chosen = grid(scene, view)
shown = compute.shown(scene.choice.source, chosen.layer, scene.choice.mask, view)
heads.head_note(scene, chosen.layer, chosen.head)

st.subheader(t("heads.chosen", layer=chosen.layer, head=chosen.head), anchor=False)
heads.row_bars(scene, shown, chosen.head, chosen.query or 0)

st.subheader(t("heads.arrive"), anchor=False)
st.markdown(t("heads.arrive_lead"))
heads.arrivals(scene, chosen.head)

st.subheader(t("heads.numbers"), anchor=False)
heads.numbers(scene, chosen.head)

st.subheader(t("heads.after"), anchor=False)
heads.after(scene, chosen.head)

st.subheader(t("heads.off_title"), anchor=False)
heads.switch_off(scene)

st.subheader(t("export.title"), anchor=False)
export.downloads(scene, chosen.head, shown)
layout.source_code(t, attend, row_softmax, merge_heads, message_norms)
