"""The only Streamlit below the pages: state and links, controls, cached computation, layout."""
