"""The frame of every page: state and links, controls, sections, cached computation. It may import Streamlit."""
