"""After a lost connection: the same server or another one goes on where the page is."""

from datetime import timedelta

import streamlit as st


@st.fragment(run_every=timedelta(days=1))
def come_back() -> None:
    """Have the browser ask for a run whenever it is connected again.

    It does so for a page with a timed part only. Any other page keeps its picture, but the session behind it may be a
    new one (its server ended, or it was away for too long) that has never run: the next change would be overruled by
    the link. With this, everything has been rebuilt from the link before anybody acts.
    """
