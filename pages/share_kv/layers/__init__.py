"""Sharing along the stack: one layer's keys and values for several, windows in the cache, and models that have them."""
