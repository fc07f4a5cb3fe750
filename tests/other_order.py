"""Sums in another order, for a whole run: ``python -m pytest -p tests.other_order -m "unit or models"``.

The last bit of a matrix product belongs to the processor and to the shapes it is called with: each library adds up the
products of a cell in the order that suits both. Here torch does so in two orders, drawn for the shapes and for how they
lie in memory, and takes each cell from one of the two; in every thread, and in backward passes. Each number is one that
some processor can give, and exact sums stay exact: a test that turns red asks for a last bit.
"""

import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from warnings import catch_warnings, simplefilter

import torch
from torch import Tensor

Arguments = tuple[Any, ...]
ALIGNMENT = 64  # bytes; Intel's library promises the same bits only for arrays that are aligned alike


def _generator(*seed: object) -> torch.Generator:
    return torch.Generator().manual_seed(zlib.crc32(repr(seed).encode()))


@lru_cache(maxsize=4096)
def _order(length: int, *of: object) -> Tensor:
    return torch.randperm(length, generator=_generator(length, of))


@lru_cache(maxsize=1024)
def _cells(*of: object) -> Tensor:
    return torch.rand(of[0], generator=_generator(of)) < 0.5  # type: ignore[call-overload]


def _layout(x: Tensor) -> tuple[object, ...]:
    """Everything a library may choose its order by."""
    return tuple(x.shape), x.stride(), x.data_ptr() % ALIGNMENT


def _reorder_product(a: Tensor, b: Tensor) -> Arguments:
    p = _order(a.shape[-1], *_layout(a), *_layout(b))
    return a.index_select(-1, p), b.index_select(max(b.ndim - 2, 0), p)


def _reorder_added_product(bias: Tensor, a: Tensor, b: Tensor) -> Arguments:
    return bias, *_reorder_product(a, b)


def _reorder_sum(x: Tensor, dim: list[int] | None, *options: Any) -> Arguments:
    reordered = x
    for axis in dim or range(x.ndim):
        reordered = reordered.index_select(axis, _order(x.shape[axis], axis, *_layout(x))) if x.ndim else x
    return reordered, dim, *options


def _reorder_attention(q: Tensor, k: Tensor, v: Tensor, *options: Any) -> Arguments:
    p = _order(q.shape[-1], *_layout(q), *_layout(k))
    return q.index_select(-1, p), k.index_select(-1, p), v, *options


REORDERINGS: dict[str, Callable[..., Arguments]] = {
    "dot": _reorder_product,
    "mv": _reorder_product,
    "mm": _reorder_product,
    "bmm": _reorder_product,
    "addmm": _reorder_added_product,
    "baddbmm": _reorder_added_product,
    "sum.dim_IntList": _reorder_sum,
    "mean.dim": _reorder_sum,
    "_scaled_dot_product_flash_attention_for_cpu": _reorder_attention,
}


def _replace(library: torch.library.Library, name: str, reorder: Callable[..., Arguments]) -> None:
    kernel = torch.library.get_kernel(f"aten::{name}", "CPU")

    def compute(keys: Any, *arguments: Any, **options: Any) -> Any:
        result = kernel.call_boxed(keys, *arguments, **options)
        values, *rest = result if isinstance(result, tuple) else (result,)
        if not values.is_floating_point() or not arguments[0].numel():
            return result
        second = kernel.call_boxed(keys, *reorder(*arguments), **options)
        second_values = second[0] if isinstance(second, tuple) else second
        values = values.where(_cells(tuple(values.shape), _layout(arguments[0])), second_values)
        return (values, *rest) if rest else values

    with catch_warnings():
        # To replace a kernel is what this is for; some builds of torch warn of the first.
        simplefilter("ignore")
        library.impl(name, compute, "CPU", with_keyset=True)


LIBRARY = torch.library.Library("aten", "IMPL")


def pytest_configure() -> None:
    """Begin, where the plugin is asked for: to import it, as pytest does to look for doctests, changes nothing."""
    for name, reorder in REORDERINGS.items():
        _replace(LIBRARY, name, reorder)
