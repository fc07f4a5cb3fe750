"""Who may look at whom, and what goes wrong with masks."""
