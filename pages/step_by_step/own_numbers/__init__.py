"""A small layer of the user's numbers, from X to the output, and three puzzles."""
