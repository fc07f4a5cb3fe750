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
from viz.frame.header.parts import Part, section_of_parts
from viz.frame.page import Page, Section

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
        section_of_parts(
            "many_heads",
            "inputs",
            "inputs_view",
            (
                Part(name="number", draw=inputs.draw, code=(split_heads,), formula=QUERY),
                Part(name="rank", draw=rank.draw, code=(score_form,), formula=SCORE),
            ),
            reads_mask=False,
        ),
        section_of_parts(
            "many_heads",
            "experts",
            "experts_view",
            (
                Part(
                    name="patterns",
                    draw=experts.draw,
                    beside=experts.choose_expert,
                    code=(pattern_share,),
                    formula=SHARE,
                    reads_layer=False,
                ),
                Part(name="differ", draw=differ.draw, code=(head_distances,), formula=DISTANCE),
            ),
        ),
    ),
)
