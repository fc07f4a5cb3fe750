"""Mistakes put into the core on purpose, by what they are put into, and the places that must notice them."""
