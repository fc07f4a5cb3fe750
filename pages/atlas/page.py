"""Every head of a model as a point, over a corpus: maps, two scores against each other, how one is spread."""

from pages.atlas import head_map
from pages.atlas.context import about, open_atlas
from viz.core.analysis.atlas.evidence import clears, gather, hurdle
from viz.core.analysis.atlas.scores import sentence_scores
from viz.frame.choice import Controls
from viz.frame.page import Page, Section

LABEL = r"\bar x - t\,\frac{s}{\sqrt n} \;>\; \max(\text{even},\ \text{random},\ \text{least})"

PAGE = Page(
    name="atlas",
    context=open_atlas,
    controls=Controls(layer=False, mask=False),
    about=about,
    sections=(
        Section(
            "map",
            head_map.draw,
            formula=LABEL,
            code=(sentence_scores, gather, hurdle, clears),
            reads_mask=False,
            reads_head=False,
        ),
    ),
)
