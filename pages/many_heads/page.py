"""Why a layer has several heads: two places at once, how differently they look, and what each of them can see."""

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
from viz.frame.page import Page, Section

PAGE = Page(
    name="many_heads",
    context=open_many_heads,
    sections=(
        Section(
            "two_places",
            two_places.draw,
            code=(offset_scores, row_softmax, neighbours, lost),
            formula=r"\text{lost} = \min_W \frac{\lVert Y - R\,W \rVert_F^2}{\lVert Y \rVert_F^2}",
            reads_text=False,
            reads_mask=False,
            reads_layer=False,
        ),
        Section(
            "differ",
            differ.draw,
            code=(head_distances,),
            formula=r"D_{ab} = \frac1Q \sum_i \tfrac12 \sum_j \lvert A^{(a)}_{ij} - A^{(b)}_{ij} \rvert",
        ),
        Section(
            "inputs",
            inputs.draw,
            code=(split_heads,),
            formula=r"q_i = x_i W_Q^{(h)}, \qquad W_Q^{(h)}: d \times d_k",
            reads_mask=False,
        ),
        Section(
            "rank",
            rank.draw,
            code=(score_form,),
            formula=r"S_{ij} = x_i\, W_Q W_K^\top x_j^\top",
            reads_text=False,
            reads_model=True,
            reads_mask=False,
        ),
        Section(
            "experts",
            experts.draw,
            code=(pattern_share,),
            formula=r"\frac{1}{|R|} \sum_{i \in R} \sum_{j \in T_i} A_{ij}, \qquad R = \{i : T_i \ne \emptyset\}",
            reads_layer=False,
        ),
    ),
)
