"""Below a section: its footer."""
