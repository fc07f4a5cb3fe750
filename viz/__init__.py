"""Headlight: every idea of multi-head attention, touchable. Start reading at ``viz/core/attention.py``."""
