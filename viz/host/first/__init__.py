"""What a hosted page shows before Streamlit's code has come: its words as HTML, and its picture."""
