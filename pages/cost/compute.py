"""Cached computations of the Cost page: torch's own counts, and measurements that users share."""

import threading
from functools import partial

import streamlit as st

from pages.cost import recount
from pages.cost.measurement import Measurement
from viz import limits
from viz.core.cost.timed_layers import Plan
from viz.frame.queue_notice import stores
from viz.scheduler.fair_queue import FairQueue, wait_silently


@st.cache_resource(max_entries=limits.COUNTS_KEPT, show_spinner=False)
def candidate_flops(d: int, h: int, k: int, n: int) -> dict[str, int]:
    """The operations of each timed layer by torch's own counter."""
    return recount.candidate_flops(d, h, k, n)


@st.cache_resource(max_entries=limits.COUNTS_KEPT, show_spinner=False)
def attention_error(d: int, h: int) -> float:
    """Error of the timed attentions against torch's own layer; up to a second for the widest."""
    return recount.attention_error(d, h, 11)


_measuring = threading.BoundedSemaphore(1), threading.BoundedSemaphore(limits.MEASUREMENTS_WAITING)


def measurement(plan: Plan) -> Measurement:
    """The measurement of a plan: not begun, under way, or done; users with the same plan share it."""
    return shared_measurement(plan, stores().turns)


@st.cache_resource(max_entries=limits.MEASUREMENTS_KEPT, show_spinner=False, hash_funcs={FairQueue: id})
def shared_measurement(plan: Plan, turns: FairQueue) -> Measurement:
    """The measurement of a plan in an app's queue."""
    return Measurement(plan, *_measuring, partial(turns.turn, "measure", wait_silently))
