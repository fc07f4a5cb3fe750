"""The folder of the script, which Streamlit puts onto the path of modules: nothing else may be in it."""
