"""Heads on a text as long as the model can read: one head's map, every head, and what changes along it."""

from pages.long_text import head_map, rows, wall
from pages.long_text.context import about, default_text, on_the_beginning, open_long_text
from viz.core.long.rows import window
from viz.core.long.shapes import fit_shapes, name_of
from viz.core.long.streamed import long_map
from viz.frame.inputs import Controls
from viz.frame.page import Page, Section, with_views
from viz.models.long.capture import long_capture

POOLED = r"""\begin{gathered}
w_{ij} = \frac{e^{s\, q_i \cdot k_j}}{\sum_m e^{s\, q_i \cdot k_m}}
\\ \text{most}_{ab} = \max_{i \in a,\, j \in b} w_{ij} \qquad
\text{mean}_{ab} = \frac{1}{|a|\,|b|} \sum_{i \in a,\, j \in b} w_{ij}
\end{gathered}"""
ALONG = r"""H_i = -\sum_j w_{ij} \ln w_{ij} \qquad d_i = \sum_j w_{ij}\, |i - j|"""

PAGE = Page(
    name="long_text",
    knows=("sink", "gate", "latent", "values", "maps"),
    context=open_long_text,
    controls=Controls(mask=False, default_text=default_text),
    about=about,
    checks_source=False,
    scene_of=on_the_beginning,
    sections=(
        Section("map", head_map.draw, formula=POOLED, code=(long_map, window, long_capture), reads_mask=False),
        with_views(
            "long_show",
            Section(
                "wall",
                wall.draw,
                formula=wall.formula,
                code=(fit_shapes, name_of),
                reads_mask=False,
                reads_layer=False,
                reads_head=False,
            ),
            Section("rows", rows.draw, formula=ALONG, code=(long_map,), reads_mask=False),
            in_menu=True,
        ),
    ),
)
