"""Positional encodings: the need for them, and their kinds."""
