"""Every head of the model at once, one of them large, what leaves them, and why not to believe a weight too soon."""

from functools import partial

from pages.heads import all_heads, arcs, arrivals, joined, numbers, row, switched_off, why
from pages.heads.compare import every_head, one_row, what_changed
from pages.heads.context import open_heads
from viz.core.analysis.head_statistics import head_statistics
from viz.core.analysis.map_statistics import message_norms
from viz.core.analysis.one_head import by_hand
from viz.core.analysis.score_parts import split_change, split_score
from viz.core.attention import attend, row_softmax
from viz.core.comparison.alignment import align
from viz.core.comparison.maps import row_change
from viz.core.heads import merge_heads
from viz.frame.page import Page, Section, with_views

MAP = r"A = \operatorname{softmax}\Bigl(\frac{Q K^{\top}}{\sqrt{d_k}}\Bigr)"
ROW = r"\sum_j A_{ij} = 1"
CHANGE = r"\tfrac12 \sum_{j} \lvert A_{ij} - A'_{ij} \rvert"
WEIGHT = r"A_{ij} = \frac{e^{\tilde S_{ij}}}{\sum_m e^{\tilde S_{im}}}, \qquad S_{ij} = q_i \cdot k_j"
SPLIT = r"S_{ij} - \overline{S_{i\cdot}} = \sum_p r_i \cdot x_i^p = \sum_p \sum_t r_t \cdot x_t^p"

MAPS = ("maps",)
split_section = partial(Section, formula=SPLIT, reads_mask=False, shares_controls=True)

PAGE = Page(
    name="heads",
    reads_bare=True,
    knows=("sink", "gate", "latent", "values"),
    context=open_heads,
    sections=(
        with_views(
            "heads_view",
            Section("all_heads", all_heads.draw, (attend, row_softmax), MAP, all_heads.save, knows=MAPS),
            Section("row", row.draw, (row_softmax,), ROW, all_heads.save, knows=MAPS),
            Section("arcs", arcs.draw, (row_softmax,), ROW, all_heads.save, knows=MAPS),
            split_section("why", why.draw, (split_score,), subject=why.subject),
            Section("numbers", numbers.draw, (head_statistics,), knows=MAPS),
        ),
        with_views(
            "compare_view",
            Section("compare", every_head.draw, (row_change, align), CHANGE, knows=MAPS),
            Section("one_row", one_row.draw, (by_hand, align), WEIGHT, shares_controls=True, knows=MAPS),
            split_section("changed", what_changed.draw, (split_change,), subject=what_changed.subject),
        ),
        Section("arrivals", arrivals.draw, code=(message_norms,), formula=r"\lVert A_{ij}\, v_j\, W_O^{(i)} \rVert"),
        Section("joined", joined.draw, code=(merge_heads,)),
        Section("switched_off", switched_off.draw),
    ),
)
