"""Answers about a model as a whole: how it writes, what it says next, and who works beside its heads."""
