"""Query heads that share keys and values: the groups, the savings, the costs."""

from pages.share_kv import converted, copying, growing_cache, in_code, published, savings, who_shares
from pages.share_kv.context import open_share_kv
from pages.share_kv.formulas import CACHE, COPIED, PARAMETERS, POOLED, SHARED_HEAD
from pages.share_kv.layers import across, windows
from pages.share_kv.mla import LATENT
from pages.share_kv.mla import draw as draw_latent
from viz.core.analysis.grouped_module import GroupedQueryAttention
from viz.core.cost.attention import kv_cache_bytes, parameters
from viz.core.heads import HeadWeights
from viz.core.heads import share_kv as share_out
from viz.core.variants.decoding import decode
from viz.core.variants.kv_sharing import attend_shared, decode_step, induction, pool_heads, repeat_kv
from viz.core.variants.layer_sharing import attend_to_source, grouped_sources, kv_sources
from viz.core.variants.today.latent import attend_absorbed, attend_latent, latent_cache
from viz.core.variants.today.rolling import cached_tokens, decode_in_window
from viz.frame.inputs import Controls
from viz.frame.page import Page, Section, standalone, with_views
from viz.frame.scene import provenance_pooled

PAGE = Page(
    name="share_kv",
    context=open_share_kv,
    controls=Controls(n_kv_heads=False),
    about=provenance_pooled,
    sections=(
        Section("who_shares", who_shares.draw, formula=SHARED_HEAD, code=(share_out, attend_shared, repeat_kv)),
        with_views(
            "view",
            Section("growing_cache", growing_cache.draw, formula=CACHE, code=(decode, decode_step, kv_cache_bytes)),
            standalone(
                "savings", savings.draw, formula=PARAMETERS, code=(parameters, kv_cache_bytes), reads_model=True
            ),
        ),
        Section("latent", draw_latent, formula=LATENT, code=(latent_cache, attend_latent, attend_absorbed)),
        with_views(
            "view",
            Section(
                "across_layers",
                across.draw,
                formula=across.SHARED_LAYERS,
                code=(grouped_sources, kv_sources, attend_to_source),
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
        ),
        Section("in_code", in_code.draw, formula=COPIED, code=(GroupedQueryAttention,), in_menu=True),
        standalone(
            "published", published.draw, formula=published.formula, code=published.code, reads_model=True, in_menu=True
        ),
        with_views(
            "view",
            Section("converted", converted.draw, formula=POOLED, code=(pool_heads, HeadWeights.from_mha)),
            standalone("copying", copying.draw, code=(induction,)),
            in_menu=True,
        ),
    ),
)
