"""Stacked layers: the origin of a token's words, and the effect of depth."""
