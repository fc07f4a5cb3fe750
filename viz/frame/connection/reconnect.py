"""After a lost connection: the same server or another one goes on where the page is."""

from datetime import timedelta

import streamlit as st

from viz.streamlit_internals import texts_sent


@st.fragment(run_every=timedelta(days=1))
def come_back() -> None:
    """Have the browser ask for a run whenever it is connected again.

    It does so for a page with a timed part only. Any other page keeps its picture, but the session behind it may be a
    new one (its server ended, or it was away for too long) that has never run: the next change would be overruled by
    the link. With this, everything has been rebuilt from the link before anybody acts.
    """


def still_shown(name: str) -> str | None:
    """What a page that was open already last sent of a text box, which a session's first run does not know yet.

    To leave that box alone keeps what is being typed into it; to set it, even to the same text, would not.
    """
    return next((text for box, text in texts_sent().items() if box.endswith(f"-{name}")), None)
