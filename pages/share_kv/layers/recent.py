"""Models of today: a latent cache, windows, states and shared layers in one count of bytes, layer by layer."""

import streamlit as st
import torch

from pages.share_kv.layers.models import CachedModel, count_bytes, model_named, models
from viz.core.cost.attention import kv_cache_bytes
from viz.core.spec import AttentionSpec
from viz.figures.growth import cache_growth
from viz.figures.line_chart import LineChart
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.modes import say
from viz.frame.show import show_lines, show_table
from viz.text import Translate
from viz.text.sizes import size

CACHE_BYTES = r"""\begin{gathered}
C = b \sum_{l} m_l(n)
\\ m_l(n) = 2\, G\, d_k\, n \ \text{ (full)}, \qquad 2\, G\, d_k \min(n, w) \ \text{ (window, chunks)}
\\ m_l(n) = (c + d_r)\, n \ \text{ (latent)}, \qquad H\, d_k\, d_v \ \text{ (state)}, \qquad 0 \ \text{ (shared)}
\end{gathered}"""

LONGEST = 1_000_000
LENGTHS = (*(2**i for i in range(5, 20)), LONGEST)
MEMORIES = {f"{gib} GiB": gib * 2**30 for gib in (8, 24, 80, 141)}
"""Memory of accelerators, in bytes: a laptop's, a gaming card's, an A100 or H100, an H200. Sold as so many GB."""


def draw_model(t: Translate, model: CachedModel, n: int) -> None:
    """Draw the cache of one model against the length of the text."""
    summary = _finding(t, model, n)
    show_lines(_growth(t, model, n), key="cached_growth", alt=summary)
    say(summary)


def draw_table(t: Translate, n: int) -> None:
    """Draw all models at the chosen length."""
    columns = {t("share_kv.recent.numbers"): st.column_config.TextColumn(help=t("share_kv.recent.numbers_help"))}
    columns[t("share_kv.preset")] = st.column_config.TextColumn(pinned=True)
    show_table([_row(t, entry, n) for entry in models()], height="content", column_config=columns)
    st.caption(t("share_kv.recent.counted"))


def _finding(t: Translate, model: CachedModel, n: int) -> str:
    published, full, unshared = map(size, _sizes(model, n))
    return t("share_kv.recent.says", model=model.name, n=amount(n), kept=published, full=full, mha=unshared)


def _sizes(model: CachedModel, n: int) -> tuple[int, int, int]:
    """Return the bytes as published, if every layer were full, and if no head shared either."""
    published, full, unshared = (count_bytes(layers, n) for layers in (model.layers, model.full, model.unshared))
    return published, full, unshared


def _growth(t: Translate, model: CachedModel, n: int) -> LineChart:
    every = [_sizes(model, length) for length in LENGTHS]
    names = [t("share_kv.recent.unshared"), t("share_kv.recent.full"), t("share_kv.as_published", name=model.name)]
    columns = list(zip(*every, strict=True))[::-1]
    curves = dict(zip(names, columns, strict=True))
    if model.layers == model.full:
        del curves[t("share_kv.recent.full")]
    return cache_growth(
        LENGTHS, curves, MEMORIES, at=n, x_title=t("share_kv.tokens"), y_title=t("share_kv.cache_bytes")
    )


def layer_kinds(t: Translate, model: CachedModel) -> str:
    """Return the number of layers of each kind, in words."""
    parts = [
        t(f"share_kv.recent.kind_{kind}", n=count, size=amount(model.size)) for kind, count in model.kind_counts.items()
    ]
    return " + ".join(parts)


def heads_of(model: CachedModel) -> str:
    """Return the kind of attention with its sizes: query and key/value heads, or the latent vector and its key."""
    if model.latent:
        return f"MLA {model.latent[0]} + {model.latent[1]}"
    kind = "MHA" if model.n_kv_heads == model.n_heads else "MQA" if model.n_kv_heads == 1 else "GQA"
    return f"{kind} {model.n_heads}/{model.n_kv_heads}"


def _row(t: Translate, model: CachedModel, n: int) -> dict[str, str]:
    published, full, unshared = map(size, _sizes(model, n))
    cells = {
        "heads": heads_of(model),
        "numbers": amount(model.full[0].cache_numbers(1)),
        "kept": published,
        "full": full,
        "unshared": unshared,
        "layers": layer_kinds(t, model),
    }
    names = {t("share_kv.preset"): f"{model.name} ({model.year})"}
    return names | {t(f"share_kv.recent.{name}", n=amount(n)): cell for name, cell in cells.items()}


def torchs_bytes(model: CachedModel, n: int) -> int:
    """Return the bytes that torch would allocate for the caches of all layers, on the meta device."""
    total = 0
    for layer in range(model.n_layers - model.n_shared):
        is_full, dtype = (layer + 1) % model.period == 0, torch.bfloat16
        if model.latent:
            shape: tuple[int, ...] = (n, model.latent[0] + model.latent[1])
        elif is_full or model.near != "linear":
            shape = (2, model.n_kv_heads, n if is_full else min(n, model.size), model.d_head)
        else:
            shape, dtype = tuple(model.state), torch.float32
        total += torch.empty(shape, dtype=dtype, device="meta").nbytes
    return total


def checks(n: int) -> list[Check]:
    """Compare the counted bytes of every model with torch's own tensors."""
    off = max(abs(count_bytes(model.layers, n) - torchs_bytes(model, n)) for model in models())
    full = max(abs(count_bytes(model.full, n) - _plain_bytes(model, n)) for model in models() if not model.latent)
    token = abs(count_bytes(model_named("DeepSeek-V3").layers, 1) - 61 * (512 + 64) * 2)
    return [
        check("share_kv.recent.check_bytes", off, 0, models=len(models()), n=amount(n)),
        check("share_kv.recent.check_full", full, 0),
        check("share_kv.recent.check_deepseek", token, 0),
    ]


def _plain_bytes(model: CachedModel, n: int) -> int:
    """Return the bytes by the formula of a stack of equal layers."""
    spec = AttentionSpec(d_model=1, n_heads=model.n_heads, n_kv_heads=model.n_kv_heads, d_head=model.d_head)
    return kv_cache_bytes(spec, n_tokens=n, n_layers=model.n_layers)
