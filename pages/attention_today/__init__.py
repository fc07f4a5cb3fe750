"""Attention as models of today have it: each variant on the words of the user, switched back to the standard."""
