"""Two texts: the words of one attend to the words of the other, with the same heads or a translator's."""

from pages.two_sequences import cross_attention, differences, kinds, scoring, translation, widths
from pages.two_sequences.context import default_model, default_text, open_two_sequences
from viz.core.heads import multi_head
from viz.core.variants.general_heads import general_heads
from viz.core.variants.scoring import additive, dot, scaled_dot
from viz.frame.page import Page, Section, standalone, with_views
from viz.frame.scene import provenance_pooled
from viz.models.cross import pair, self_error, trained_cross
from viz.models.generation import write

PAGE = Page(
    name="two_sequences",
    context=open_two_sequences,
    # Between two texts a model's own heads are used outside their training.
    about=provenance_pooled,
    sections=(
        Section(
            "translation",
            translation.draw,
            code=(write,),
            default_model=default_model,
            default_text=default_text,
            reads_mask=False,
            reads_text=translation.reads_heads,
            reads_model=True,
            reads_layer=translation.reads_heads,
            reads_head=translation.reads_heads,
        ),
        Section("cross_attention", cross_attention.draw, code=(pair, trained_cross), formula=cross_attention.formula),
        Section("differences", differences.draw, code=(self_error,), in_menu=True),
        with_views(
            "score_show",
            Section(
                "scoring",
                scoring.draw,
                code=(dot, scaled_dot, additive),
                formula=scoring.draw_formulas,
                reads_mask=False,
            ),
            standalone(
                "kinds", kinds.draw, code=(general_heads, additive, scaled_dot), formula=kinds.FORMULA, reads_text=True
            ),
            standalone("widths", widths.draw, code=(multi_head,), reads_text=True),
            in_menu=True,
        ),
    ),
)
