"""Attention as models of today have it: sinks, limits on scores, gates, differences, states, and who has which."""

from functools import partial

from pages.attention_today import (
    chosen,
    compressed,
    difference,
    exclusive,
    gate,
    nobody,
    state,
    tamed,
    trained,
    who_uses,
)
from pages.attention_today.context import open_today
from pages.attention_today.residual import depth, streams
from viz.core.attention import softmax_with_sink
from viz.core.variants.today import gates, sinks, switches
from viz.frame.page import Page, Section, standalone, with_views
from viz.models.trained.today.summary import summarise
from viz.models.trained.today.train import build, measure_heads

no_mask = partial(Section, reads_mask=False, reads_head=False)

PAGE = Page(
    name="attention_today",
    context=open_today,
    knows=("latent", "values"),
    sections=(
        Section(
            "nobody",
            nobody.draw,
            code=(softmax_with_sink, sinks.softmax_off_by_one, sinks.gate_by_sink, sinks.first_token_share),
            formula=nobody.SINK,
            knows=("sink",),
        ),
        Section("tamed", tamed.draw, tamed.CODE, tamed.BOUNDS),
        Section("gate", gate.draw, code=(gates.output_gate,), formula=gate.GATE, reads_head=False),
        with_views(
            "view",
            Section("difference", difference.draw, difference.CODE, difference.DIFFERENCE),
            Section("exclusive", exclusive.draw, exclusive.CODE, exclusive.EXCLUSIVE, shares_controls=True),
        ),
        Section("state", state.draw, state.CODE, state.STATES, reads_mask=False),
        with_views(
            "view",
            *(
                Section(way, partial(chosen.draw, way=way), *chosen.WAYS[way], shares_controls=way != "chosen")
                for way in chosen.WAYS
            ),
            Section("compressed", compressed.draw, compressed.CODE, compressed.COMPRESSED),
        ),
        with_views(
            "view",
            no_mask("depth", depth.draw, depth.CODE, depth.DEPTH, reads_layer=False),
            no_mask("streams", streams.draw, streams.CODE, streams.STREAMS, shares_controls=True),
            in_menu=True,
        ),
        with_views(
            "view",
            standalone("who_uses", who_uses.draw, code=(switches.standard, switches.qk_norm, switches.delta)),
            standalone("trained", trained.draw, code=(build, measure_heads, summarise)),
            in_menu=True,
        ),
    ),
)
