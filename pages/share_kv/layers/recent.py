"""Models of today: a latent cache, windows, states and shared layers in one count of bytes, layer by layer."""

from collections.abc import Mapping, Sequence

import torch

from viz.core.cost.mixed import cache_bytes
from viz.figures.curves import curves
from viz.figures.line_chart import Axis, LineChart, Mark
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.modes import say
from viz.frame.show import show_lines
from viz.models.published import Model, models
from viz.models.recount.published import published_bytes, published_sizes
from viz.text import Translate, paragraph
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


def draw_model(t: Translate, model: Model, n: int) -> list[Check]:
    """Draw the cache of one model against the length of the text; check it against tensors of the published shapes."""
    published, full, unshared = map(size, _sizes(model, n))
    summary = t("share_kv.recent.says", model=model.name, n=amount(n), kept=published, full=full)
    if unshared != full:
        summary = paragraph(summary, t("share_kv.recent.says_unshared", mha=unshared))
    names = [t("share_kv.recent.unshared"), t("share_kv.recent.full"), t("share_kv.as_published", name=model.name)]
    caches = dict(zip(names, list(zip(*(_sizes(model, length) for length in LENGTHS), strict=True))[::-1], strict=True))
    if full in (published, unshared):
        del caches[names[1]]
    show_lines(cache_growth(t, LENGTHS, caches, n), key="cached_growth", alt=summary)
    say(summary)
    counts = zip(models(), published_sizes(), strict=True)
    off = max(abs(entry.cache(n) - published_bytes(sizes, n)) + entry.n_misplaced for entry, sizes in counts)
    return [check("share_kv.recent.check_bytes", off, 0, n=amount(n), models=len(models()))]


def cache_growth(t: Translate, lengths: Sequence[int], caches: Mapping[str, Sequence[int]], at: int) -> LineChart:
    """Draw bytes against tokens, both axes logarithmic, with a line for each size of memory."""
    marks = [*(Mark(y=n_bytes, label=name) for name, n_bytes in MEMORIES.items()), Mark(x=at)]
    x, y = Axis(t("share_kv.tokens"), log=True), Axis(t("share_kv.cache_bytes"), log=True, grid=True, in_bytes=True)
    series = {name: torch.tensor(sizes) for name, sizes in caches.items()}
    return curves(lengths, series, x=x, y=y, marks=marks, height=380)


def _sizes(model: Model, n: int) -> tuple[int, int, int]:
    """Return the bytes as published, if every layer were full, and if no head shared either."""
    return model.cache(n), cache_bytes(model.only_full, n_tokens=n), cache_bytes(model.unshared, n_tokens=n)
