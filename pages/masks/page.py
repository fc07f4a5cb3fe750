"""Who may look at whom: masks ready-made and painted, what the softmax makes of them, and a text that grows."""

from pages.masks import decoding, editor, every_mask, pitfalls
from pages.masks.context import open_masks
from viz.core.attention import row_softmax
from viz.core.masks import causal, dilated, padding, prefix, window
from viz.core.mistakes.masks import bare_softmax, filled_softmax, masked_after, through_mha
from viz.core.variants.decoding import decode, newcomers_share
from viz.core.variants.kv_sharing import decode_step
from viz.frame.choice import Controls
from viz.frame.page import Page, Section

MASKED_SOFTMAX = r"A_{ij} = \frac{M_{ij}\, e^{s_{ij}}}{\sum_m M_{im}\, e^{s_{im}}}"

PAGE = Page(
    name="masks",
    context=open_masks,
    controls=Controls(mask=False),
    sections=(
        Section("editor", editor.draw, code=(causal, padding, window, dilated, prefix, row_softmax)),
        Section("every_mask", every_mask.draw, formula=MASKED_SOFTMAX, code=(row_softmax,)),
        Section("decoding", decoding.draw, code=(decode, decode_step, newcomers_share)),
        Section("empty_row", pitfalls.empty_row, code=(bare_softmax, filled_softmax)),
        Section("too_late", pitfalls.too_late, code=(masked_after,), parameters=("mask_late",)),
        Section("polarity", pitfalls.polarity, code=(through_mha,), reads_head=False),
    ),
)
