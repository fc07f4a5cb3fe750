"""The numbers of this page found another way: by torch's own counter, by tensors, by a word that spreads.

Layers run on the meta device, where a tensor has a shape and no numbers: nothing is computed, everything is counted.
What was counted is kept: the same sizes are asked for again whenever a page is drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool1d, pad

from viz import limits
from viz.core.cost.counting import FlopCounterMode
from viz.core.cost.model import ModelSpec
from viz.core.heads import concat_heads, split_heads

ATEN = torch.ops.aten
counted_once = lru_cache(limits.COUNTS_KEPT)


def naive_attention(x: Tensor, w: Tensor | Sequence[Tensor], h: int) -> Tensor:
    """Self-attention of h heads with W_Q, W_K, W_V and W_O: every score and every weight is kept until it is used."""
    q, k, v = (split_heads(x @ matrix, h) for matrix in w[:3])
    weights = torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
    return concat_heads(weights @ v) @ w[3]


def candidate_flops(d: int, h: int, k: int, n: int) -> dict[str, int]:
    """The operations of torch's own layers on n tokens by torch's counter."""
    with torch.device("meta"):
        x, w, (gru, lstm) = torch.empty(n, d), torch.empty(4, d, d), (nn.GRU(d, d), nn.LSTM(d, d))
        convolution = partial(nn.Conv1d(d, d, k, padding=k // 2), x.T)
    runs = {"self_attention": partial(naive_attention, x, w, h), "convolution": convolution}
    counts = {}
    for name, run in {**runs, "gru": partial(gru, x), "lstm": partial(lstm, x)}.items():
        with FlopCounterMode(display=False) as counter:
            run()
        counts[name] = counter.get_total_flops()
    return counts


@dataclass(frozen=True, kw_only=True)
class LayerCount:
    """The operations of a self-attention layer by torch's counter, with the weights of all heads stored at once.

    ``matrices`` and ``pairs`` are multiply-adds: with W_Q, W_K, W_V, W_O, and of QKᵀ and AV.
    """

    matrices: int
    pairs: int
    exponentials: int
    weight_bytes: int


@counted_once
def attention_layer(d: int, h: int, d_k: int, n: int) -> LayerCount:
    """Run self-attention with h heads of width d_k on n tokens of width d, and count."""
    columns, softmaxes = h * d_k, list[tuple[int, ...]]()
    x = torch.empty(n, d, device="meta")
    w = [torch.empty(d, columns, device="meta") for _ in range(3)] + [torch.empty(columns, d, device="meta")]

    def one_for_each(shape: tuple[int, ...], *_: Any, out_shape: tuple[int, ...], **__: Any) -> int:
        softmaxes.append(out_shape)
        return torch.Size(shape).numel()

    with FlopCounterMode(display=False, custom_mapping={ATEN._softmax: one_for_each}) as counter:
        naive_attention(x, w, h)
    flops = counter.get_flop_counts()["Global"]
    return LayerCount(
        matrices=flops[ATEN.mm] // 2,
        pairs=flops[ATEN.bmm] // 2,
        exponentials=flops[ATEN._softmax],
        weight_bytes=sum(torch.empty(shape, device="meta").nbytes for shape in softmaxes),
    )


def _to_both_sides(signal: Tensor, k: int, _layer: int) -> Tensor:
    return max_pool1d(signal, k, stride=1, padding=k // 2)


def _with_growing_gaps(signal: Tensor, k: int, layer: int) -> Tensor:
    gap = k**layer
    return max_pool1d(pad(signal, (gap * (k - 1), 0)), k, stride=1, dilation=gap)


SPREADS: Mapping[str, Callable[[Tensor, int, int], Tensor]] = MappingProxyType(
    {
        "self_attention": lambda signal, _k, _layer: signal.amax().expand_as(signal),
        "window": _to_both_sides,
        "convolution": _to_both_sides,
        "dilated": _with_growing_gaps,
        "recurrence": lambda signal, _k, _layer: signal.maximum(pad(signal, (1, 0))[..., :-1]),
    }
)
"""Spread of the first word by one layer (a recurrence: one step), on a signal (1, 1, n)."""


@counted_once
def spreading_steps(name: str, n: int, k: int) -> tuple[int | None, ...]:
    """Let the first of n words spread layer by layer; when it reaches each word, None where it never does.

    Example:
        >>> spreading_steps("window", 6, 5), spreading_steps("dilated", 6, 2), spreading_steps("window", 2, 1)
        ((0, 1, 1, 2, 2, 3), (0, 1, 2, 2, 3, 3), (0, None))
    """
    signal, layer = torch.zeros(1, 1, n), 0
    signal[..., 0] = 1
    steps: list[int | None] = [0] + [None] * (n - 1)
    while True:
        wider = SPREADS[name](signal, k, layer)
        new = (wider > signal).flatten().nonzero().flatten().tolist()
        if not new:
            return tuple(steps)
        layer, signal = layer + 1, wider
        for place in new:
            steps[place] = layer


def model_layers(m: ModelSpec) -> dict[str, list[nn.Module]]:
    """A model as torch's own modules, without numbers: what stands once, and what stands in every layer."""
    a, d = m.attention, m.attention.d_model
    qkv, o, ff = (name in m.bias for name in ("qkv", "o", "ff"))
    into = [nn.Linear(d, m.d_ff, ff) for _ in range(2 if m.gated else 1)]
    every: list[nn.Module] = [
        nn.Linear(d, a.H * a.d_k, qkv),
        nn.Linear(d, a.G * a.d_k, qkv),
        nn.Linear(d, a.G * a.d_v, qkv),
        nn.Linear(a.H * a.d_v, a.d_out, o),
        *into,
        nn.Linear(m.d_ff, d, ff),
    ]
    once: list[nn.Module] = [nn.Embedding(m.vocabulary + m.positions + m.segments, d)]
    once += [nn.LayerNorm(d, bias=m.norm_bias) for _ in range(m.norms)]
    once += [nn.Linear(d, m.vocabulary, bias=False)] * (not m.tied) + [nn.Linear(d, d)] * m.pooler
    return {"once": once, "every": every}


@counted_once
def model_parameters(m: ModelSpec) -> int:
    """The numbers in all of its modules."""
    with torch.device("meta"):
        layers = model_layers(m)
    once, every = (sum(p.numel() for module in layers[name] for p in module.parameters()) for name in ("once", "every"))
    return once + m.n_layers * every


@counted_once
def model_flops(m: ModelSpec, n: int) -> int:
    """The operations of one pass over n tokens by torch's counter; n is shorter than any window."""
    a = m.attention
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        for linear in model_layers(m)["every"]:
            assert isinstance(linear, nn.Linear)
            linear(torch.empty(n, linear.in_features))
        scores = torch.empty(a.H, n, a.d_k) @ torch.empty(a.H, a.d_k, n)
        scores @ torch.empty(a.H, n, a.d_v)
    layers = m.n_layers * counter.get_total_flops()
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        if m.decoder:
            nn.Linear(a.d_model, m.vocabulary, bias=False)(torch.empty(n, a.d_model))
    return layers + counter.get_total_flops()
