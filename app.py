"""Headlight at a desk, ``streamlit run app.py``; and the script that is run for every user, whatever server it has.

Streamlit reads a file before it runs it, and takes it for a server where it finds ``st.App(`` in it.
"""

import streamlit as st

from viz.app.make import make_app
from viz.app.run import draw_frame

if __name__ == "__main__":  # a user's run
    draw_frame()
else:
    app = st.App(**make_app(hosted=False).options)
