"""Binary data of two views of shared keys and values: brackets (``sharing.js``) and cache (``kv_cache.js``)."""

from typing import Any

from torch import Tensor

from viz.components.head_grid import pack, weight_codes


def _kv(k: Tensor, v: Tensor) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return K (G, T, d_k) and V (G, T, d_v), and the largest absolute value of each: one scale for all groups."""
    (n_kv_heads, n, d_k), d_v = k.shape, v.shape[-1]
    limits = {"k": float(k.abs().max()) or 1.0, "v": float(v.abs().max()) or 1.0}
    header = {"n_kv_heads": n_kv_heads, "n": n, "d_k": d_k, "d_v": d_v, "limits": limits}
    return header, {"k": k.float(), "v": v.float()}


def pack_sharing(k: Tensor, v: Tensor, weights: Tensor, *, reads: list[int], **header: Any) -> bytes:
    """Pack k (G, T, d_k) and v (G, T, d_v) of each group, and the weights (H, T, T) of each query head.

    The weights are exact to half a step of 16 bits; ``reads`` is the key/value head of each query head.
    """
    sizes, blocks = _kv(k, v)
    blocks["weights"] = weight_codes(weights)
    return pack({**sizes, "n_heads": len(weights), "reads": reads, **header}, blocks).data


def pack_cache(k: Tensor, v: Tensor, *, token_bytes: int, mha_token_bytes: int, **header: Any) -> bytes:
    """Pack K and V, and the cache bytes of one token, with these heads and without sharing."""
    sizes, blocks = _kv(k, v)
    return pack({**sizes, "token_bytes": token_bytes, "mha_token_bytes": mha_token_bytes, **header}, blocks).data
