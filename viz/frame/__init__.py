"""What every page stands in: state and links, controls, sections, cached computation. Streamlit is known here."""
