"""Until app.py has run once, Streamlit takes a folder called pages for its old kind of app, without a frame."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode, urlparse

import streamlit as st

from viz.components.mount import mount
from viz.frame.connection import loading
from viz.streamlit_internals import pages_are_no_scripts, takes_pages_for_scripts
from viz.streamlit_internals.changes import send_changes_only
from viz.streamlit_internals.last_run import tidy_after_the_last_run
from viz.streamlit_internals.less_work import work_less
from viz.streamlit_internals.together import send_together


def use_own_pages(needed: Mapping[str, Sequence[str]]) -> None:
    """Start again if this is such a run: the first of a server; and have Streamlit do little in every run.

    A link to a page was not understood then, and a dialog says so; the browser opens it once more, and it is. What the
    page needs is imported meanwhile.

    Args:
        needed: the modules that each of the app's own pages needs, by its path; none, if it computes nothing.
    """
    work_less()
    send_changes_only()
    tidy_after_the_last_run()
    send_together()
    if not takes_pages_for_scripts():
        return
    pages_are_no_scripts()
    base, _, path = urlparse(st.context.url or "").path.rpartition("/")
    if path in needed:
        if needed[path]:
            loading.begin_to_import(*needed[path])
        link = urlencode(st.query_params.to_dict())
        mount("frame/reopen", key="reopen", data={"address": f"{base}/{path}" + (f"?{link}" if link else "")})
        st.stop()
    st.rerun()
