"""W_Q, W_K, W_V and W_O of a model's layer as the core's matrices, the heads side by side."""

from torch import Tensor

from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec
from viz.models.layers.latent import key_value_matrices, read_latent
from viz.models.layout import Layer, linear


def read_weights(layer: Layer, q: Tensor, k: Tensor, v: Tensor, x: Tensor, memory: Tensor) -> HeadWeights:
    """A layer's own W_Q, W_K, W_V, W_O; views, unless the heads are interleaved or keys come from a short vector."""
    (H, _, d_k), (G, _, _), d_v = q.shape, k.shape, v.shape[-1]
    pairs = [linear(projection) for projection in layer.projections]
    if layer.layout.latent and (latent := read_latent(layer)) is not None:
        w_k, w_v = key_value_matrices(layer, latent, H, d_v)
        pairs = [pairs[0], (w_k, None), (w_v, None)]
    if len(pairs) == 1:
        (w, b), sizes = pairs[0], [H * d_k, G * d_k, G * d_v]
        # Here q, k, v of head 0 come first, then those of head 1; all q first, then all k, then all v are returned.
        if layer.layout.interleaved:
            w = w.unflatten(1, (H, 3, d_k)).transpose(1, 2).flatten(1)
            b = None if b is None else b.unflatten(0, (H, 3, d_k)).transpose(0, 1).flatten()
        pairs = list(zip(w.split(sizes, dim=1), b.split(sizes) if b is not None else [None] * 3, strict=True))
    # The gate's half of each head's columns is left out.
    if layer.layout.doubled:
        pairs[0] = _first_halves(*pairs[0], n_heads=H)
    for letter, name in layer.layout.factors.items():
        at, factor = "qkv".index(letter), float(getattr(layer.attention, name))
        w, b = pairs[at]
        pairs[at] = (w * factor, None if b is None else b * factor)
    w_o, b_o = linear(layer.output)
    spec = AttentionSpec(
        d_model=x.shape[-1],
        n_heads=H,
        n_kv_heads=G,
        d_head=d_k,
        d_value=d_v,
        d_memory=memory.shape[-1],
        d_output=w_o.shape[1],
    )
    (w_q, b_q), (w_k, b_k), (w_v, b_v) = pairs
    return HeadWeights(spec=spec, w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o, b_q=b_q, b_k=b_k, b_v=b_v, b_o=b_o)


def _first_halves(w: Tensor, b: Tensor | None, *, n_heads: int) -> tuple[Tensor, Tensor | None]:
    """Keep the first half of each head's columns."""

    def halve(columns: Tensor) -> Tensor:
        return columns.unflatten(-1, (n_heads, 2, -1)).select(-2, 0).flatten(-2)

    return halve(w), None if b is None else halve(b)
