"""A control has only the fragment around it drawn again, and no fragment holds a tensor."""

from types import FunctionType

from torch import Tensor

from viz.frame.lazy import without_results


def tensors_of(value, visited):
    """The tensors that a value holds on to."""
    if id(value) in visited or isinstance(value, type) or type(value).__module__.startswith(("streamlit", "torch.nn")):
        return []
    visited.add(id(value))
    if isinstance(value, Tensor):
        return [value]
    inner = [cell.cell_contents for cell in value.__closure__ or ()] if isinstance(value, FunctionType) else []
    if hasattr(value, "__dict__") and not isinstance(value, FunctionType):
        inner += list(vars(value).values())
    if isinstance(value, dict | list | tuple | set | frozenset):
        inner += list(value.values() if isinstance(value, dict) else value)
    if hasattr(value, "func"):
        inner += [value.func, *value.args, *value.keywords.values()]
    return [tensor for part in inner for tensor in tensors_of(part, visited)]


def test_tensor_held_is_found():
    """The search for what a section's fragments hold can fail; tests/frame/test_every_page.py has the sections."""
    import torch

    numbers = torch.zeros(3)
    assert len(tensors_of([lambda: numbers], set())) == 1


def test_context_without_results_computes_again():
    """A copy of a page's context has no computed values."""
    from dataclasses import dataclass

    from viz.frame.lazy import lazy

    @dataclass(frozen=True)
    class Inner:
        words: str
        length = lazy(lambda inner: len(inner.words))

    @dataclass(frozen=True)
    class Outer:
        inner: Inner
        visible: set[str]

    outer = Outer(Inner("abc"), {"a"})
    assert outer.inner.length == 3
    copy = without_results(outer)
    assert copy == outer and "length" not in vars(copy.inner) and copy.visible is not outer.visible
