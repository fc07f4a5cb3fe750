"""What a visitor may ask of the server at most, and why. Every limit is enforced here, not in the browser."""

CHARACTERS = 4_000
"""Of one text: about 700 words, more than any model here reads; what is beyond is dropped and counted."""

TOKENS = 512
"""Of one text: the default model's own limit. 72 maps of 512 x 512 weights are 75 MB, the most one picture needs."""

PRINTED_CELLS = 400
"""Numbers are printed into the cells of a matrix up to this many cells; beyond it they would not be legible."""

MODELS_KEPT = 6
"""Models in memory at once: the default one, the three twins of 1.6 MB each, and two more (the largest takes 2 GB)."""

CAPTURES_KEPT = 24
"""Texts whose q, k, v are kept: at most 19 MB each for the default model, a few hundred kB for a sentence."""

FORWARD_PASSES = 2
"""Models run at the same time at most this often; others wait their turn."""

TRACES_KEPT = 8
"""Layers whose every intermediate is kept: 50 MB each for 12 heads at 512 tokens, under 1 MB for a sentence."""

WALLS_KEPT = 16
"""Walls packed for the browser: at most 2.5 MB each."""

HEADS_KEPT = 64
"""Heads packed for the browser: at most 0.6 MB each, 700 bytes for a sentence."""

PLACED_TOKENS = 128
"""Of a text whose encodings are compared: eight maps of 128 x 128 exact numbers are 0.5 MB."""

TORCH_THREADS = 1
"""Of one forward pass. With one a core, another busy process makes every operation wait for the scheduler: 0.6 ms of
attention on a sentence took 60 ms on a shared machine with two cores."""

ENCODED_KEPT = 64
"""Scores of a first layer under one encoding: at most 0.8 MB each for the default model."""

PICTURE_SIDE = 64
"""Pixels of a picture's side: a head on 64 x 64 has a map of 4096 x 4096."""

PICTURE_BYTES = 2_000_000
"""Of a visitor's file, as .streamlit/config.toml has it: more than a picture reduced to 64 x 64 needs."""

PICTURE_PIXELS = 16_000_000
"""Of a visitor's file, read from its header before it is unpacked: 48 MB as RGB."""

WINDOW_TOKENS = 128
"""Of a text whose windows are drawn live: three heads of 128 x 128 scores are 0.2 MB, recomputed 60 times a second."""

LESSONS = 1
"""Lessons (a student learning a convolution) trained at the same time; others wait for their next 20 steps."""

TIMES_KEPT = 32
"""Times of a step of decoding: one number each. Measuring one holds 0.13 GB of keys and values for half a second."""

SHARED_TOKENS = 96
"""Of a text whose K, V and heads are drawn group by group: at most 0.6 MB for 12 heads of width 64."""

MEASURED_LENGTHS = tuple(2**power for power in range(6, 14))
"""Texts that layers are timed on: 64 to 8192 tokens."""

MEASURED_WIDTH, MEASURED_KERNEL = 1024, 15
"""The largest layers that are timed: a convolution of that size has 63 MB of weights."""

MEASURED_SECONDS = (10, 20, 60)
"""A visitor may choose how long a measurement takes at most."""

MEASUREMENTS_WAITING = 4
"""One measurement runs at a time; three more may wait, others are asked to try again."""

MEASUREMENTS_KEPT = 32
"""Measurements kept: a few dozen numbers each."""
