"""Layers that read those below them otherwise than by a sum: attention over depth, several residual streams."""
