"""Headlight at a desk, ``streamlit run app.py``.

Streamlit reads a file before it runs it, and takes it for a server where it finds ``st.App(`` in it. A host
that runs this file for the public gets the server of ``serve.py`` (viz/container.py says how a host is known).
"""

import streamlit as st

from viz.app.make import make_app
from viz.app.run import draw_frame
from viz.container import HOST

if __name__ == "__main__":  # the launcher of a host that does not look for a server
    draw_frame()
else:
    app = st.App(**make_app(hosted=bool(HOST)).options)
