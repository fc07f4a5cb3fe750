"""Heads on a text as long as the model can read."""
