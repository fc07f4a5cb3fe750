"""The page of many heads: two places at once, differences between heads, and the part of the input that each sees."""

from pages.many_heads import differ, experts, inputs, rank, two_places
from pages.many_heads.context import open_many_heads
from viz.core.analysis.several_heads import (
    head_distances,
    lost,
    neighbours,
    offset_scores,
    pattern_share,
    score_form,
)
from viz.core.attention import row_softmax
from viz.core.heads import split_heads
from viz.frame.page import Page, Section, with_views

QUERY = r"q_i = x_i W_Q^{(h)}, \qquad W_Q^{(h)}: d \times d_k"
SCORE = r"S_{ij} = x_i\, W_Q W_K^\top x_j^\top"
SHARE = r"\frac{1}{|R|} \sum_{i \in R} \sum_{j \in T_i} A_{ij}, \qquad R = \{i : T_i \ne \emptyset\}"
DISTANCE = r"D_{ab} = \frac1Q \sum_i \tfrac12 \sum_j \lvert A^{(a)}_{ij} - A^{(b)}_{ij} \rvert"

PAGE = Page(
    name="many_heads",
    knows=("sink", "gate", "latent", "values"),
    context=open_many_heads,
    sections=(
        Section(
            "two_places",
            two_places.draw,
            code=(offset_scores, row_softmax, neighbours, lost),
            formula=r"\text{lost} = \min_W \frac{\lVert Y - R\,W \rVert_F^2}{\lVert Y \rVert_F^2}",
            reads_mask=False,
            reads_layer=False,
            reads_head=False,
        ),
        with_views(
            "inputs_view",
            Section("inputs", inputs.draw, (split_heads,), QUERY, reads_mask=False),
            Section("rank", rank.draw, (score_form,), SCORE, reads_mask=False),
        ),
        with_views(
            "experts_view",
            Section("experts", experts.draw, (pattern_share,), SHARE, reads_layer=False),
            Section("differ", differ.draw, (head_distances,), DISTANCE),
        ),
    ),
)
