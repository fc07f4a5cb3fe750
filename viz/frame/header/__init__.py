"""Above a section: its page's tabs."""
