"""Pictures of traces: tensors and words in, plotly figures (as plain dicts) out. No Streamlit, no mathematics."""
