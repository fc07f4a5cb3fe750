"""The head grid in a notebook: ``show.py`` is ``viz.show``. Streamlit is not needed, and plotly for a figure alone."""
