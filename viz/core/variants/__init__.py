"""Attention in other forms: relative positions, encodings, shared keys and values, other scores, decoding."""
