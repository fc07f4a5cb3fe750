"""What a visitor may ask of the server at most, and why. Every limit is enforced here, not in the browser."""

CHARACTERS = 4_000
"""Of one text: about 700 words, more than any model here reads; what is beyond is dropped and counted."""

TOKENS = 512
"""Of one text: the default model's own limit. 72 maps of 512 x 512 weights are 75 MB, the most one picture needs."""

PRINTED_CELLS = 400
"""Numbers are printed into the cells of a matrix up to this many cells; beyond it they would not be legible."""

MODELS_KEPT = 3
"""Models in memory at once; the largest of the registry takes 2 GB."""

CAPTURES_KEPT = 24
"""Texts whose q, k, v are kept: at most 19 MB each for the default model, a few hundred kB for a sentence."""

FORWARD_PASSES = 2
"""Models run at the same time at most this often; others wait their turn."""

TRACES_KEPT = 8
"""Layers whose every intermediate is kept: 50 MB each for 12 heads at 512 tokens, under 1 MB for a sentence."""
