"""The sections on layers that differ: shared keys and values, windows, and models that have them."""

from pages.share_kv.layers import across, recent, windows
from viz.core.cost.mixed import FullCost, LatentCost, LinearCost, SharedKVCost, WindowCost
from viz.core.variants.layer_sharing import attend_to_source, grouped_sources
from viz.core.variants.today.rolling import cached_tokens, decode_in_window
from viz.frame.page import Section, standalone, with_views

LAYERS = with_views(
    "view",
    Section(
        "across_layers",
        across.draw,
        formula=across.SHARED_LAYERS,
        code=(grouped_sources, attend_to_source),
        reads_layer=False,
    ),
    Section(
        "windows",
        windows.draw,
        formula=windows.WINDOW_CACHE,
        code=(decode_in_window, cached_tokens),
        reads_layer=False,
        reads_head=False,
        reads_mask=False,
    ),
)
RECENT = standalone(
    "recent", recent.draw, formula=recent.CACHE_BYTES, code=(FullCost, WindowCost, LatentCost, SharedKVCost, LinearCost)
)
