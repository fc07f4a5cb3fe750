"""Pictures that live in the browser: Streamlit components v2, each a .py, a .js and a .css of the same name."""
