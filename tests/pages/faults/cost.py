"""Mistakes in what layers cost."""

from dataclasses import replace

from tests.pages.faults.fault import Fault
from viz.core.cost import attention as cost
from viz.core.cost import mixed
from viz.models.published import Model

MIXES = ("mix with windows", "mix with states", "mix with MLA", "mix with selection")
"""Places with a mix of layers; below each stands the table of published models."""


def _half_of_each(right, *sizes, **options):
    counts = right(*sizes, **options)
    return replace(counts, **{name: value // 2 for name, value in vars(counts).items()})


FAULTS = {
    "a mix with one layer more between full ones": Fault(
        function=mixed.interleave,
        wrong=lambda right, full, rest, *, n_layers, period: right(
            full, rest, n_layers=n_layers, period=period + (period > 1)
        ),
        places=MIXES,
    ),
    "a mix without its highest layer": Fault(
        function=mixed.step_flops,
        wrong=lambda right, layers, *, n_tokens: right(layers[:-1], n_tokens=n_tokens),
        places=MIXES,
    ),
    "a cache in one byte a number": Fault(
        function=mixed.cache_bytes,
        wrong=lambda right, layers, *, n_tokens: right(layers, n_tokens=n_tokens, bytes_per_value=1),
        places=MIXES,
    ),
    "a mix that is cheaper one token later": Fault(
        function=mixed.cheaper_from,
        wrong=lambda right, *costs: None if (n := right(*costs)) is None else n + 1,
        places=MIXES,
    ),
    "a mix that is cheaper one token before": Fault(
        function=mixed.cheaper_from,
        wrong=lambda right, *costs: n - 1 if (n := right(*costs)) and n > 1 else n,
        places=("mix with windows", "mix with states", "mix with selection"),
    ),
    "a mix that is cheaper for ever in place of never": Fault(
        function=mixed.cheaper_from,
        wrong=lambda right, *costs: right(*costs) or 1,
        places=("mix with MLA", "mix with selection"),
    ),
    "a mix that is never cheaper": Fault(function=mixed.cheaper_from, wrong=lambda right, *costs: None, places=MIXES),
    "half of the keys of a full layer": Fault(
        function=mixed.FullCost.step_flops,
        wrong=lambda right, layer, n: right(layer, (n + 1) // 2),
        places=MIXES,
    ),
    "a full layer that keeps keys alone": Fault(
        function=mixed.FullCost.cache_numbers, wrong=lambda right, layer, n: right(layer, n) // 2, places=MIXES
    ),
    "a window one token too wide in the mix": Fault(
        function=mixed.WindowCost.step_flops,
        wrong=lambda right, layer, n: mixed.FullCost(spec=layer.spec).step_flops(min(n, layer.size + 1)),
        places=("mix with windows",),
    ),
    "a window that has no end in the cache": Fault(
        function=mixed.WindowCost.cache_numbers,
        wrong=lambda right, layer, n: mixed.FullCost(spec=layer.spec).cache_numbers(n),
        places=MIXES,  # the table below has windows too
    ),
    "a linear layer whose state grows with the text": Fault(
        function=mixed.LinearCost.cache_numbers,
        wrong=lambda right, layer, n: n * right(layer, n),
        places=MIXES,
    ),
    "a state that is read once": Fault(
        function=mixed.LinearCost.step_flops,
        wrong=lambda right, layer, n: 2 * right(layer, n) // 3,
        places=("mix with states",),
    ),
    "a latent cache without the key with RoPE": Fault(
        function=mixed.LatentCost.cache_numbers,
        wrong=lambda right, layer, n: n * layer.spec.d_latent,
        places=MIXES,
    ),
    "an absorbed step in the plain form": Fault(
        function=mixed.LatentCost.step_flops,
        wrong=lambda right, layer, n: layer.text_flops(n) // n,
        places=("mix with MLA",),
    ),
    "a scorer that costs nothing": Fault(
        function=mixed.TopKCost.step_flops,
        wrong=lambda right, layer, n: layer.layer.step_flops(min(n, layer.top_k)),
        places=("mix with selection",),
    ),
    "a selection that drops what it does not select": Fault(
        function=mixed.TopKCost.cache_numbers,
        wrong=lambda right, layer, n: right(layer, min(n, layer.top_k)),
        places=MIXES,
    ),
    "published models without their first layer": Fault(
        function=vars(Model)["layers"].fget, wrong=lambda right, model: right(model)[1:], places=MIXES
    ),
    "1 FLOP for 2": Fault(function=cost.attention_flops, wrong=_half_of_each, places=("differences",)),
}
