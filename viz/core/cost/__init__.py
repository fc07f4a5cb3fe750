"""Cost of attention: parameters, operations, bytes; counted.

Counts are plain integers, exact at any size. A multiply-add counts two FLOPs.
"""

from viz.core.cost.attention import attention_flops, kv_cache_bytes, parameters

__all__ = ["attention_flops", "kv_cache_bytes", "parameters"]
