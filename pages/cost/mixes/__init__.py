"""Mixes of layers: some look at the whole text, the others are of a cheaper kind."""
