"""A decoder's next word, and the parts of the model that produce it."""
