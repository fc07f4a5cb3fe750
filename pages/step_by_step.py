"""One head in nine steps, one cell of it by hand, and what happens when a part is missing."""

import streamlit as st

from viz.core.attention import attend, row_softmax
from viz.core.broken import attend_wrongly, column_softmax
from viz.core.heads import merge_heads, project, share_kv
from viz.core.one_head import by_hand
from viz.ui import breaking, layout, steps, walk

scene = layout.open_page("step_by_step")
here = walk.begin(scene)
steps.show(here)

st.subheader(scene.t("step_by_step.break_title"), anchor=False)
breaking.compare(here, breaking.switches(here))

layout.truth(scene.t, steps.checks(here))
layout.source_code(
    scene.t, project, attend, row_softmax, share_kv, merge_heads, by_hand, attend_wrongly, column_softmax
)  # fmt: skip
