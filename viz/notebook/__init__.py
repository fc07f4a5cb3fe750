"""The head grid in a notebook: ``show.py`` is ``viz.show``. Neither Streamlit nor plotly is needed."""
