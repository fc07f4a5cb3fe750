"""A decoder's next word, layer by layer, and the heads that produce it."""

from pages.next_word import asked, attribution, layers, next_words, swap, switch_off
from pages.next_word.context import about, open_next_word
from pages.next_word.decoders import default_model, default_text
from viz.core.analysis.attribution import attribute, final_norm_direction
from viz.core.analysis.lens import logit_lens, rank, surprise
from viz.frame.inputs import Controls
from viz.frame.page import Page, Section
from viz.models.generation import continue_text
from viz.models.interventions import one_in_each, patch_layer, replaced, without

SURPRISE = r"I_t = -\log_2 p(x_t \mid x_1 \ldots x_{t-1})"
LENS = r"\operatorname{logits}_l = N(x_l)\, W_U"
PARTS = r"""\begin{gathered}
u \cdot N\Big(\sum_p x_p\Big) = \sum_p r \cdot x_p + u \cdot s
\\ r = (g \odot u) / \sigma
\end{gathered}"""
OFF = r"x \leftarrow x + \sum_{i \,\notin\, off} z_i W_O^i + \sum_{i \,\in\, off} \bar z_i W_O^i"
SWAPPED = r"\text{effect}_i = \Delta\big(z_i \to z'_i\big) - \Delta"

PAGE = Page(
    name="next_word",
    knows=("sink", "latent", "values"),
    context=open_next_word,
    controls=Controls(layer=False, mask=False, default_text=default_text, default_model=default_model),
    about=about,
    checks_source=False,
    sections=(
        Section("next_word", next_words.draw, formula=SURPRISE, code=(surprise, continue_text), subject=asked.subject),
        Section("logit_lens", layers.draw, formula=LENS, code=(logit_lens, rank)),
        Section(
            "attribution",
            attribution.draw,
            formula=PARTS,
            code=(attribute, final_norm_direction),
            subject=asked.subject_of_parts,
        ),
        Section("switch_off", switch_off.draw, formula=OFF, code=(without, replaced)),
        Section("swap", swap.draw, formula=SWAPPED, code=(patch_layer, one_in_each)),
    ),
)
