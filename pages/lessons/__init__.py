"""The list of lessons."""
