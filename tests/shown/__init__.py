"""The contents of sections as data: a command records them, and a test compares."""
