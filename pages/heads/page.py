"""Every head of the model at once, one of them large, what leaves them, and why not to believe a weight too soon."""

from pages.heads import all_heads, arcs, arrivals, joined, numbers, row, switched_off
from pages.heads.compare import every_head, one_row
from pages.heads.context import open_heads
from viz.core.analysis.head_statistics import head_statistics
from viz.core.analysis.map_statistics import message_norms
from viz.core.analysis.one_head import by_hand
from viz.core.attention import attend, row_softmax
from viz.core.comparison.alignment import align
from viz.core.comparison.maps import row_change
from viz.core.heads import merge_heads
from viz.frame.header.parts import Part, section_of_parts
from viz.frame.page import Page, Section

MAP = r"A = \operatorname{softmax}\Bigl(\frac{Q K^{\top}}{\sqrt{d_k}}\Bigr)"
ROW = r"\sum_j A_{ij} = 1"
CHANGE = r"\tfrac12 \sum_{j} \lvert A_{ij} - A'_{ij} \rvert"
WEIGHT = r"A_{ij} = \frac{e^{\tilde S_{ij}}}{\sum_m e^{\tilde S_{im}}}, \qquad S_{ij} = q_i \cdot k_j"

PAGE = Page(
    name="heads",
    reads_bare=True,
    knows=("sink", "gate", "latent", "values"),
    context=open_heads,
    sections=(
        section_of_parts(
            "heads",
            "all_heads",
            "heads_view",
            (
                Part(name="grid", draw=all_heads.draw, code=(attend, row_softmax), formula=MAP),
                Part(name="row", draw=row.draw, code=(row_softmax,), formula=ROW),
                Part(name="arcs", draw=arcs.draw, code=(row_softmax,), formula=ROW),
            ),
            downloads=all_heads.save,
            is_below=True,
        ),
        section_of_parts(
            "heads",
            "compare",
            "compare_view",
            (
                Part(name="maps", draw=every_head.draw, code=(row_change, align), formula=CHANGE),
                Part(name="row", draw=one_row.draw, code=(by_hand, align), formula=WEIGHT),
            ),
            is_below=True,
            share_controls=True,
        ),
        Section("arrivals", arrivals.draw, code=(message_norms,), formula=r"\lVert A_{ij}\, v_j\, W_O^{(i)} \rVert"),
        Section("joined", joined.draw, code=(merge_heads,)),
        Section("switched_off", switched_off.draw),
        Section("numbers", numbers.draw, code=(head_statistics,), in_menu=True),
    ),
)
