"""A captured model with fewer keys and values than it has, or with the classic mistake of sharing them out."""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.variants.kv_sharing import pool_heads, repeat_kv
from viz.models.capture import Call, Capture


def _change(capture: Capture, change: Callable[[Call], Call]) -> Capture:
    name = next(iter(capture.stacks))
    return replace(capture, stacks={**capture.stacks, name: tuple(change(call) for call in capture.calls)})


def with_fewer(capture: Capture, n_kv_heads: int) -> Capture:
    """Every layer of the first stack with the mean of each group of key/value heads (Ainslie et al. 2023, sec. 2.1).

    Each layer still reads what the model itself gave it, to be judged by itself. The mean of X W over a
    group is X times the mean of W: pooling heads is pooling weights, also where RoPE turns all heads alike.

    Raises:
        ValueError: if the number of key/value heads is in no layer a multiple of ``n_kv_heads``.
    """
    can_pool = [len(call.k) % n_kv_heads == 0 for call in capture.calls]

    def pool(call: Call) -> Call:
        # Gemma 4 has another number in some layers: these stay as they are.
        if any(can_pool) and len(call.k) % n_kv_heads:
            return call
        weights = HeadWeights.from_mha(call.projections, n_kv_heads)
        return replace(call, k=pool_heads(call.k, n_kv_heads), v=pool_heads(call.v, n_kv_heads), projections=weights)

    return _change(capture, pool)


def wrongly_shared(capture: Capture, layer: int, *, allowed: Tensor | None = None) -> MultiHeadTrace:
    """A layer in which query head i reads key/value head i mod G; ``allowed`` as in :meth:`Capture.multi_head`."""
    mixed_up = _change(
        capture, lambda call: replace(call, k=repeat_kv(call.k, len(call.q)), v=repeat_kv(call.v, len(call.q)))
    )
    right, wrong = capture.calls[layer], mixed_up.multi_head(layer, allowed=allowed)
    return replace(wrong, k=right.k, v=right.v)
