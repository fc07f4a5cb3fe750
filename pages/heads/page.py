"""Every head of the model at once, one of them large, what leaves them, and why not to believe a weight too soon."""

from pages.heads import all_heads, arrivals, compare, joined, numbers, row, switched_off
from pages.heads.context import open_heads
from viz.core.analysis.head_statistics import portrait
from viz.core.analysis.map_statistics import message_norms
from viz.core.attention import attend, row_softmax
from viz.core.comparison.alignment import align
from viz.core.comparison.maps import row_change
from viz.core.heads import merge_heads
from viz.frame.page import Page, Section

PAGE = Page(
    name="heads",
    context=open_heads,
    sections=(
        Section("all_heads", all_heads.draw, code=(attend, row_softmax), downloads=all_heads.save),
        Section(
            "compare",
            compare.draw,
            code=(row_change, align),
            formula=r"\tfrac12 \sum_{j} \lvert A_{ij} - A'_{ij} \rvert",
        ),
        Section("row", row.draw, code=(row_softmax,), parameters=("part=row",)),
        Section(
            "arrivals",
            arrivals.draw,
            code=(message_norms,),
            formula=r"\lVert A_{ij}\, v_j\, W_O^{(i)} \rVert",
            parameters=("part=arrive",),
        ),
        Section("joined", joined.draw, code=(merge_heads,), parameters=("part=after", "after")),
        Section("switched_off", switched_off.draw, parameters=("part=off", "off")),
        Section("numbers", numbers.draw, code=(portrait,), parameters=("part=numbers",)),
    ),
)
