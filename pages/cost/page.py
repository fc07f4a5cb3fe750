"""Cost of layers: self-attention, convolution, recurrence; one head or many; real models."""

from functools import partial

from pages.cost import classic_table, growth, heads, layer_parts, memory, models, paths
from pages.cost.context import about, open_cost
from pages.cost.formulas import HEADS, LAYER, OVERTAKES, PARTS, STEPS, STREAM
from pages.cost.mixes.section import MIXES
from pages.cost.streaming import streaming_attention
from viz.core.cost.architectures import (
    convolution,
    crossing,
    dilated,
    recurrence,
    self_attention,
    stacked,
    window_pairs,
    windowed_attention,
)
from viz.core.cost.attention import attention_flops, kv_cache_bytes, parameters, softmax_exponentials, streaming_numbers
from viz.core.cost.model import model_flops, model_kv_bytes, overtakes
from viz.frame.inputs import Controls
from viz.frame.page import Page, Section, with_views

counted_section = partial(Section, reads_text=False)

PAGE = Page(
    name="cost",
    knows=("sink", "gate", "latent", "values"),
    context=open_cost,
    controls=Controls(layer=False, mask=False),
    about=about,
    checks_source=False,
    sections=(
        counted_section("table", classic_table.draw, code=(stacked, dilated)),
        with_views(
            "view",
            counted_section(
                "growth", growth.draw, formula=LAYER, code=(self_attention, convolution, recurrence, crossing)
            ),
            counted_section(
                "parts", layer_parts.draw, formula=PARTS, code=(attention_flops, windowed_attention, window_pairs)
            ),
            counted_section("memory", memory.draw, formula=STREAM, code=(streaming_attention, streaming_numbers)),
            in_menu=True,
        ),
        Section("paths", paths.draw, formula=STEPS, code=(stacked, dilated), in_menu=True),
        counted_section("heads", heads.draw, formula=HEADS, code=(parameters, softmax_exponentials), in_menu=True),
        MIXES,
        Section(
            "models",
            models.draw,
            formula=OVERTAKES,
            code=(model_flops, overtakes, model_kv_bytes, kv_cache_bytes),
            reads_text=False,
            reads_model=True,
            in_menu=True,
        ),
    ),
)
