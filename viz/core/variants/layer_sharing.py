"""Sharing of weights among the layers of a stack: none, one set for all (ALBERT), or one for each group of
neighbours; and sharing of keys and values.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import AttentionTrace, attend
from viz.core.heads import HeadWeights, MultiHeadTrace, merge_heads, project, share_kv, split_heads


def layers_used(n_layers: int, n_sets: int) -> tuple[int, ...]:
    r"""For each layer the number of the layer whose weights it uses: the first one of its group.

    Layer l is in group :math:`\lfloor l\, S / L \rfloor`. S = L is a stack of independent layers, S = 1 uses the first
    layer again and again (Lan et al. 2020, sec. 3.1); between, neighbours share, as K and V heads do in
    :func:`~viz.core.heads.share_kv`. Groups differ by one layer at most.

    Raises:
        ValueError: if there are no sets, or more sets than layers.

    Example:
        >>> layers_used(6, 2), layers_used(5, 2)
        ((0, 0, 0, 3, 3, 3), (0, 0, 0, 3, 3))
    """
    if not 1 <= n_sets <= n_layers:
        raise ValueError(f"n_sets={n_sets} must be between 1 and n_layers={n_layers}")
    groups = [layer * n_sets // n_layers for layer in range(n_layers)]
    return tuple(groups.index(group) for group in groups)


def grouped_sources(n_layers: int, size: int) -> tuple[int, ...]:
    r"""Return for each layer the layer whose keys and values it reads: the first of its group of ``size`` neighbours.

    Layer l reads layer :math:`g \lfloor l / g \rfloor` (Brandon et al. 2024). Standard where ``size`` is 1.

    Raises:
        ValueError: if a number is below 1.

    Example:
        >>> grouped_sources(5, 2), grouped_sources(5, 1)
        ((0, 0, 2, 2, 4), (0, 1, 2, 3, 4))
    """
    for name, number in (("n_layers", n_layers), ("size", size)):
        if number < 1:
            raise ValueError(f"{name}={number} must be at least 1")
    return tuple(layer // size * size for layer in range(n_layers))


def attend_to_source(
    queries: Sequence[Float[Tensor, "H T d_k"]],
    keys: Sequence[Float[Tensor, "G T d_k"]],
    values: Sequence[Float[Tensor, "G T d_v"]],
    sources: Sequence[int],
    layer: int,
    **options: Any,
) -> AttentionTrace:
    r"""Attend with a layer's queries to the keys and values of its source.

    .. math:: \operatorname{attend}(Q^l, K^s, V^s), \qquad s = \text{source of } l

    Standard where the layer is its source. The queries stay those of the layer as it was: nothing is run again.

    Example:
        >>> import torch
        >>> q, k = [torch.zeros(1, 2, 3)] * 2, [torch.ones(1, 2, 3)] * 2
        >>> attend_to_source(q, k, [torch.zeros(1, 2, 1), torch.ones(1, 2, 1)], (0, 0), 1).output.flatten()
        tensor([0., 0.])
    """
    q, source = queries[layer], sources[layer]
    return attend(q, share_kv(keys[source], len(q)), share_kv(values[source], len(q)), **options)


def kv_sources(kinds: Sequence[Hashable], n_shared: int) -> tuple[int, ...]:
    """Return for each layer the layer whose keys and values it reads; the last ``n_shared`` make none.

    They read those of the last layer of their kind that makes some: a windowed layer has other keys in its cache than a
    full one. 15 of 35 layers in Gemma 3n (Google 2025), and Gemma 4. Standard where none share.

    Args:
        kinds: of each layer, e.g. ``full_layers(...)``, or "window" and "full".
        n_shared: how many layers make no keys and values.

    Raises:
        ValueError: if ``n_shared`` is not between 0 and all layers but one, or a layer finds no other of its kind.

    Example:
        >>> kv_sources(["window", "full", "window", "window", "full"], 2)
        (0, 1, 2, 2, 1)
    """
    first = len(kinds) - n_shared
    if not 0 <= n_shared < len(kinds):
        raise ValueError(f"n_shared={n_shared} is not between 0 and n_layers - 1 = {len(kinds) - 1}")
    last = {kind: layer for layer, kind in enumerate(kinds[:first])}
    if missing := [layer for layer in range(first, len(kinds)) if kinds[layer] not in last]:
        raise ValueError(f"layer {missing[0]} finds no layer of its kind among the first {first}")
    return (*range(first), *(last[kind] for kind in kinds[first:]))


def attend_in_layers(
    x: Float[Tensor, "T d_model"],
    layers: Sequence[HeadWeights],
    sources: Sequence[int],
    *,
    allowed: Bool[Tensor, "L T T"] | None = None,
) -> tuple[MultiHeadTrace, ...]:
    r"""Run layers of attention one on the other, some of which read an earlier layer's keys and values.

    .. math:: x_{l+1} = x_l + \operatorname{attend}(x_l W_Q^l,\; x_s W_K^s,\; x_s W_V^s)\, W_O^l,
              \qquad s = \text{source of } l

    Attention and residuals alone: no norm, no feed-forward layer. Queries and W_O are each layer's, and W_K and W_V of
    a layer that reads are left unused. Standard where each layer is its source.

    Args:
        x: the tokens.
        layers: what the layers have learned; those that read need as many key/value heads as those they read.
        sources: of each layer, as :func:`kv_sources` returns them.
        allowed: a mask for each layer.

    Raises:
        ValueError: if a layer reads a later one.

    Example:
        >>> import torch
        >>> from viz.core.spec import AttentionSpec
        >>> layers = [HeadWeights.random(AttentionSpec(d_model=3, n_heads=1), seed=seed) for seed in range(3)]
        >>> traces = attend_in_layers(torch.eye(3), layers, (0, 1, 0))
        >>> traces[2].k is traces[0].k, torch.equal(traces[2].q, traces[0].q)
        (True, False)
    """
    traces: list[MultiHeadTrace] = []
    for layer, (weights, source) in enumerate(zip(layers, sources, strict=True)):
        if source > layer:
            raise ValueError(f"layer {layer} cannot read layer {source}, which comes later")
        s = weights.spec
        if source == layer:
            k = split_heads(project(x, weights.w_k, weights.b_k), s.G)
            v, memory = split_heads(project(x, weights.w_v, weights.b_v), s.G), x
        else:
            k, v, memory = traces[source].k, traces[source].v, traces[source].memory
        q = split_heads(project(x, weights.w_q, weights.b_q), s.H)
        mask = None if allowed is None else allowed[layer]
        traces.append(merge_heads(q, k, v, weights, x=x, memory=memory, allowed=mask))
        x = x + traces[-1].output
    return tuple(traces)
