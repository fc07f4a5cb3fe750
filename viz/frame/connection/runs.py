"""A run of app.py begins."""

import streamlit as st

from viz.streamlit_internals import pages_are_no_scripts, takes_pages_for_scripts


def begin_run() -> None:
    """Begin again where Streamlit takes the folder called pages for its old kind of app.

    Our servers have set that right before anybody comes; what runs the script by itself (its test harness) has not.
    """
    if takes_pages_for_scripts():
        pages_are_no_scripts()
        st.rerun()
