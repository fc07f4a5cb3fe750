"""A run of app.py begins: Streamlit does and sends as little in it as it can."""

import streamlit as st

from viz.streamlit_internals import pages_are_no_scripts, takes_pages_for_scripts
from viz.streamlit_internals.last_run import tidy_after_the_last_run
from viz.streamlit_internals.less_work import work_less
from viz.streamlit_internals.message_filter import send_changes_only
from viz.streamlit_internals.together import send_together


def begin_run() -> None:
    """Have Streamlit do little; begin again where it takes the folder called pages for its old kind of app.

    Our servers have told it before anybody comes; what runs the script by itself (its test harness) has not.
    """
    work_less()
    send_changes_only()
    tidy_after_the_last_run()
    send_together()
    if takes_pages_for_scripts():
        pages_are_no_scripts()
        st.rerun()
