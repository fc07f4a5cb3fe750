"""Cost of a mix of layers over the length, beside full layers, and the lengths from which the mix is cheaper."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
import torch

from pages.cost.context import CostContext, draw_sizes, powers_of_two
from pages.cost.mixes import recount
from pages.cost.mixes.mix import MEASURES, WITH_SIZE, Mix, choose
from pages.cost.mixes.models import draw_models
from viz.core.cost.attention import attention_flops, kv_cache_bytes
from viz.core.cost.mixed import FullCost, LatentCost, LinearCost, TopKCost, WindowCost, cheaper_from, interleave
from viz.core.variants.today.delta import delta_states, to_unit_length
from viz.figures.growth import Line, growth
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.modes import say
from viz.frame.page import Section
from viz.frame.show import show_lines
from viz.text import Translate

# For each kind of layer the operations of a token, then the numbers in the cache.
MIX = r"""\begin{array}{rll}
\text{full:} & 4nd & 2nd \\
\text{window:} & 4md & 2md \\
\text{linear:} & 6d\,d_k & d\,d_k \\
\text{MLA:} & 4hc\,d_k & n(c + r) \\
& {} + 2nh(2c + r) & \\
\text{selection:} & 4md & 2nd + n\,d_k \\
& {} + 2ng(d_k + 1) &
\end{array}"""

FAR = 10**9
"""Length at which a mix that is never cheaper is counted by hand."""
Meets = Mapping[str, int | None]


def draw(context: CostContext) -> list[Check]:
    """Draw operations and bytes over the length, say where the mix becomes cheaper, and list real models."""
    t, picture, finding = context.t, st.container(), st.container()
    mix = choose(context)
    draw_sizes(context, kernel=False)
    meets = {measure: mix.meets(measure) for measure in MEASURES}
    sentences = find_sentences(t, mix, meets)
    with picture:
        for column, (measure, sentence) in zip(st.columns(2), sentences.items(), strict=True):
            with column:
                _chart(t, mix, measure, meets, sentence)
    with finding:
        for sentence in dict.fromkeys(sentences.values()):
            say(sentence)
    st.caption(_about(t, mix))
    with st.expander(t("cost.mixes.models_title")):
        checks = draw_models(t)
    return [*_checks(mix, meets), *checks]


def find_sentences(t: Translate, mix: Mix, meets: Meets) -> dict[str, str]:
    """Return for each measure a sentence on the length from which the mix is cheaper."""
    return {
        measure: t(f"cost.mixes.{measure}_{'never' if n is None else 'says'}", n=amount(n))
        for measure, n in meets.items()
    }


def _chart(t: Translate, mix: Mix, measure: str, meets: Meets, sentence: str) -> None:
    count, n, meeting = MEASURES[measure], mix.sizes.n, meets[measure]
    corners = {size for size in (meeting, mix.size if mix.kind in WITH_SIZE else None) if size}
    lengths = sorted({*powers_of_two(n, *(8 * size for size in corners)), *corners})
    stacks = {t("cost.mixes.only_full"): mix.only_full, t("cost.mixes.mix"): mix.layers}
    lines = [
        Line(name=name, style=i, values={at: count(layers, n_tokens=at) for at in lengths})
        for i, (name, layers) in enumerate(stacks.items())
    ]
    if meeting and meeting > 1:
        met = {meeting: count(mix.layers, n_tokens=meeting)}
        lines.append(Line(name=t("cost.mixes.meets"), style=2, points=True, values=met))
    fig = growth(
        lines,
        size_title=t("cost.n"),
        value_title=t(f"cost.mixes.{measure}"),
        marks={n: f"n = {amount(n)}"},
        height=320,
        in_bytes=measure == "cache",
    )
    show_lines(fig, key=f"mix_{measure}", alt=sentence)


def _about(t: Translate, mix: Mix) -> str:
    """Return how many layers are full, and what the other kind does."""
    c, r = mix.latent.d_latent, mix.latent.d_rope
    values = {"w": amount(mix.size), "d_k": mix.d_k, "c": c, "r": r, "width": c + r, "g": mix.n_scorers}
    about = t(f"cost.mixes.about_{mix.kind}", **values)
    return t("cost.mixes.n_full", full=mix.n_full, L=mix.n_layers, about=about)


def _checks(mix: Mix, meets: Meets) -> list[Check]:
    return [
        *(check(f"cost.mixes.check_{measure}", by_hand_error(mix, measure), 0) for measure in MEASURES),
        check("cost.mixes.check_full", full_error(mix), 0, L=mix.n_layers),
        check("cost.mixes.check_meets", sum(wrong_lengths(mix, name, n) for name, n in meets.items()), 0),
        check("cost.mixes.check_state", state_error(mix), 0),
    ]


def _recount(mix: Mix, measure: str, n: int, *, full: bool = False) -> int:
    """Return the cost of the mix, or of full layers, counted layer by layer by tensors."""
    kinds = recount.layer_kinds("full" if full else mix.pattern, mix.kind, mix.n_layers)
    return recount.stack_cost(measure, kinds, mix.sizes.d, mix.sizes.h, mix.size, n)


def by_hand_error(mix: Mix, measure: str) -> int:
    """Return the largest difference from the count by hand, inside and beyond a window too."""
    lengths = (1, min(mix.sizes.n, FAR), mix.size, mix.size + 1)
    return max(abs(MEASURES[measure](mix.layers, n_tokens=n) - _recount(mix, measure, n)) for n in lengths)


def full_error(mix: Mix) -> int:
    """Return how far the mix is from full layers if its pattern is "all full"."""
    off, same = 0, replace(mix, pattern="full")
    for n in (1, mix.sizes.n, mix.size + 1):
        flops = attention_flops(mix.full.spec, n_queries=1, n_keys=n)
        expected = {
            "flops": mix.n_layers * (flops.scores + flops.mixing),
            "cache": kv_cache_bytes(mix.full.spec, n_tokens=n, n_layers=mix.n_layers),
        }
        for measure, count in MEASURES.items():
            costs = (count(layers, n_tokens=n) for layers in (same.layers, mix.only_full))
            off = max(off, *(abs(cost - expected[measure]) for cost in costs))
    return off


def wrong_lengths(mix: Mix, measure: str, meeting: int | None) -> int:
    """Count the lengths next to the crossing at which the wrong stack is the cheaper one."""

    def is_cheaper(n: int) -> bool:
        return _recount(mix, measure, n) < _recount(mix, measure, n, full=True)

    if meeting is None:
        return sum(map(is_cheaper, (1, mix.size + 1, FAR)))
    before = meeting > 1 and is_cheaper(meeting - 1)
    return before + (not is_cheaper(meeting)) + (not is_cheaper(meeting + FAR))


def state_error(mix: Mix) -> int:
    """Return the numbers by which states grow with the text: those of seeded keys, and those of the chosen heads."""
    n_heads, d_k, off = 3, 5, 0
    for n in (4, 40):
        k, v = torch.randn(2, n_heads, n, d_k, generator=torch.Generator().manual_seed(0))
        k, ones = to_unit_length(k), torch.ones(n_heads, n)
        state = delta_states(k, k, v, beta=ones, steps=-ones).state
        expected = LinearCost(n_heads=n_heads, d_k=d_k, d_v=d_k, corrects=True).cache_numbers(n)
        off = max(off, abs(state.numel() - expected))
    layer = LinearCost(n_heads=mix.sizes.h, d_k=mix.d_k, d_v=mix.d_k, corrects=True)
    return max(off, abs(layer.cache_numbers(FAR) - layer.cache_numbers(1)))


MIXES = Section(
    "mixes",
    draw,
    formula=MIX,
    code=(interleave, FullCost, WindowCost, LinearCost, LatentCost, TopKCost, cheaper_from),
    in_menu=True,
    reads_text=False,
)
