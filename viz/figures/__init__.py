"""Pictures of traces: tensors and words in; charts of lines, or plotly figures as plain dicts, out. No mathematics."""
