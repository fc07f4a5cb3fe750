"""The Masks page: ready-made and painted masks, the softmax under them, and a growing text."""

from pages.masks import decoding, editor, layers, pitfalls, top_k
from pages.masks.context import open_masks
from pages.masks.opening import CausalFirst
from viz.core.attention import row_softmax
from viz.core.masks import blocks, causal, dilated, padding, prefix, window
from viz.core.mistakes.masks import mask_after_softmax, softmax_inf_fill, softmax_replace_1e9, through_mha
from viz.core.variants.decoding import decode, weight_taken_by_new_token
from viz.core.variants.kv_sharing import decode_step
from viz.core.variants.today.selection import lost_shares, top_k_mask
from viz.frame.inputs import Controls
from viz.frame.page import Section, with_views

MASKED_SOFTMAX = r"A_{ij} = \frac{M_{ij}\, e^{s_{ij}}}{\sum_m M_{im}\, e^{s_{im}}}"
TOO_LATE = r"A_{ij} = M_{ij}\, \frac{e^{s_{ij}}}{\sum_m e^{s_{im}}} \quad \text{(wrong)}"
OPPOSITE = r"M^{\text{MHA}}_{ij} = 1 - M^{\text{SDPA}}_{ij}"

PAGE = CausalFirst(
    name="masks",
    knows=("gate", "latent", "values"),
    context=open_masks,
    controls=Controls(mask=False),
    sections=(
        Section(
            "editor",
            editor.draw,
            code=(causal, padding, window, dilated, prefix, blocks, row_softmax),
            formula=MASKED_SOFTMAX,
        ),
        Section("decoding", decoding.draw, code=(decode, decode_step, weight_taken_by_new_token), reads_mask=False),
        Section(
            "layers",
            layers.draw,
            code=layers.code,
            formula=layers.REACH,
            reads_mask=False,
            reads_layer=False,
            reads_head=False,
        ),
        Section("top_k", top_k.draw, code=(top_k_mask, row_softmax, lost_shares), formula=top_k.LARGEST),
        with_views(
            "mistake",
            Section("mistakes", pitfalls.too_late, (mask_after_softmax,), TOO_LATE),
            Section(
                "empty_row", pitfalls.empty_row, (softmax_inf_fill, softmax_replace_1e9), pitfalls.explain_empty_row
            ),
            Section("polarity", pitfalls.polarity, (through_mha,), OPPOSITE, reads_head=False),
        ),
    ),
)
