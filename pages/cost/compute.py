"""Cached computations of the Cost page: torch's own counts."""

import streamlit as st

from pages.cost import recount
from viz import limits


@st.cache_resource(max_entries=limits.COUNTS_KEPT, show_spinner=False)
def candidate_flops(d: int, h: int, k: int, n: int) -> dict[str, int]:
    """The operations of a layer of each kind by torch's own counter."""
    return recount.candidate_flops(d, h, k, n)
