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

heads.look_closer(scene, shown, chosen)

st.subheader(t("export.title"), anchor=False)
export.downloads(scene, chosen.head, view)
layout.source_code(t, attend, row_softmax, merge_heads, message_norms)
