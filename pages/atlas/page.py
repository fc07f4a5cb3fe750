"""Every head of a model as a point, over a corpus: maps, two scores against each other, how one is spread."""

from functools import partial

from pages.atlas import head_map, scatter, spread
from pages.atlas.context import SUPPORTED, about, open_atlas
from viz.core.analysis.atlas.evidence import clears, gather, hurdle
from viz.core.analysis.atlas.scores import sentence_scores
from viz.core.analysis.atlas.summary import correlation, histogram, summarize
from viz.frame.inputs import Controls
from viz.frame.page import Page, Section, with_views

R = r"r = \frac{\sum_h (x_h - \bar x)(y_h - \bar y)}{\sqrt{\sum_h (x_h - \bar x)^2 \sum_h (y_h - \bar y)^2}}"

over_a_corpus = partial(Section, reads_mask=False, reads_head=False, is_fragment=False)
"""A section with one number for each head, which no mask and no chosen head changes."""

PAGE = Page(
    name="atlas",
    knows=SUPPORTED,
    context=open_atlas,
    controls=Controls(layer=False, mask=False),
    about=about,
    checks_source=False,
    sections=(
        over_a_corpus("map", head_map.draw, formula=head_map.formula, code=(sentence_scores, gather, hurdle, clears)),
        with_views(
            "view",
            over_a_corpus("spread", spread.draw, formula=spread.formula, code=(summarize, histogram)),
            over_a_corpus("scatter", scatter.draw, formula=R, code=(correlation,)),
            in_menu=True,
        ),
    ),
)
