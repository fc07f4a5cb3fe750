"""The Positions page: attention's need for positions, and the ways to encode them."""

from pages.positions import encodings, no_positions, real_head, rope, shuffle, sinusoids, step, today
from pages.positions.context import about, open_positions
from viz.core import positions
from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.encodings import content_bias, encode, offset_profile, restore_order
from viz.core.variants.relative import quadratic_scores
from viz.core.variants.today.angles import partial_rope, temperatures, yarn_frequencies, yarn_gain, yarn_ramp
from viz.core.variants.today.dilution import weight_among
from viz.frame.inputs import Controls
from viz.frame.page import Page, Section, standalone, with_views

SINUSOIDS = standalone(
    "sinusoids", sinusoids.draw, code=(positions.frequencies, positions.sinusoidal), formula=sinusoids.ROWS
)
STEP = standalone("step", step.draw, code=(positions.rotation, offset_profile), formula=step.formula)
TODAY = Section("today", today.draw, code=(partial_rope, yarn_ramp, yarn_frequencies, yarn_gain), formula=today.YARN)
NO_POSITIONS = Section(
    "no_positions",
    no_positions.draw,
    code=(temperatures, weight_among),
    formula=no_positions.GROWING_FACTOR,
    reads_mask=False,
)

PAGE = Page(
    name="positions",
    context=open_positions,
    controls=Controls(layer=False),
    about=about,
    sections=(
        Section("shuffle", shuffle.draw, code=(encode, restore_order), reads_mask=False),
        with_views("pe_show", SINUSOIDS, STEP),
        Section(
            "encodings",
            encodings.draw,
            code=(encode, positions.alibi, positions.t5_buckets, quadratic_scores, content_bias),
            formula=encodings.ENCODED,
        ),
        Section("rope", rope.draw, code=(positions.rope,), formula=rope.ROTATED_SCORE, reads_mask=False),
        with_views("today_show", TODAY, NO_POSITIONS),
        standalone("real_head", real_head.draw, code=(weight_at_offset,), in_menu=True, reads_text=True),
    ),
)
