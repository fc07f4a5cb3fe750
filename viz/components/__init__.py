"""Pictures that live in the browser: Streamlit components v2. ``client/`` is their one web root: browser code only."""
