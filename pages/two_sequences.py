"""Two sequences: one text asks, another answers, with the same heads."""

import streamlit as st

from viz.core.heads import multi_head
from viz.core.scoring import additive, dot, scaled_dot
from viz.models.cross import cross, pair
from viz.ui import heads, layout, scoring, two_sequences, writing
from viz.ui.grid import grid

scene = layout.open_page("two_sequences", about=two_sequences.about)
t = scene.t
target = two_sequences.target_text(scene)
meeting = two_sequences.meet(scene, target)
badge = st.container()

shown = two_sequences.between(meeting)
two_sequences.whose(meeting, shown)
view = heads.view_controls(shown)
chosen = grid(shown, view)

st.subheader(t("two_sequences.changes_title"), anchor=False)
st.markdown(t(two_sequences.lead_of_changes(meeting)))
two_sequences.differences(meeting)
st.markdown(t("two_sequences.changes_note"))

st.subheader(t("two_sequences.scores_title"), anchor=False)
st.markdown(t("two_sequences.scores_lead", layer=meeting.cross.choice.layer, head=chosen.head))
scoring.side_by_side(meeting, chosen.head)

st.subheader(t("two_sequences.widths_title"), anchor=False)
st.markdown(t("two_sequences.widths_lead"))
scoring.widths(meeting)

st.subheader(t("two_sequences.write_title"), anchor=False)
st.markdown(t("two_sequences.write_lead"))
writing.write(meeting, chosen.head)

with badge:
    layout.truth(t, [*two_sequences.checks(meeting), *meeting.checks])
layout.source_code(t, multi_head, pair, cross, dot, scaled_dot, additive)
