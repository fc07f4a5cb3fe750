"""transformers without what it imports for other uses than ours: that took a second before a model was there.

Nothing is taken away from a program that already uses transformers' models when it first loads one of ours.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from viz.imports import importing

MODELS = "transformers.modeling_utils"
"""What every model of transformers stands on."""
DYNAMO = "torch._dynamo"
INDEXING = f"{DYNAMO}._trace_wrapped_higher_order_op"


@cache
def lean_transformers() -> Any:
    """transformers, with what its models stand on imported, and little else."""
    with importing():
        import transformers

        transformers.utils.is_scipy_available = lambda: False  # for a loss of object detection
        if MODELS not in sys.modules:
            _import_models(Path(transformers.__file__).parent / "models")
    return transformers


def _import_models(folder: Path) -> None:
    import transformers
    from transformers.utils import import_utils

    for place in (transformers.utils, import_utils):
        place.is_torch_distributed_available = lambda: False  # for a model on several machines; sympy comes with it
    _import_index(import_utils, folder)
    with _compiler_later():
        import transformers.masking_utils
        import transformers.modeling_utils


def _import_index(import_utils: Any, folder: Path) -> None:
    """Import ``transformers.models``, told what is where in its folder as transformers was when it was imported.

    That is read out of the text of two thousand files, and would be twice.
    """
    read, whole = import_utils.define_import_structure, str(folder / "__init__.py")
    known = _below(read(folder, prefix="models"), "models.")

    def read_once(path: Any, prefix: str | None = None) -> Any:
        return known if str(path) == whole and prefix is None else read(path, prefix)

    import_utils.define_import_structure = read_once
    try:
        import transformers.models  # noqa: F401
    finally:
        import_utils.define_import_structure = read


def _below(structure: dict[Any, dict[str, Any]], prefix: str) -> dict[Any, dict[str, Any]]:
    """What of such a structure begins with the prefix, without it."""
    return {
        needs: {name.removeprefix(prefix): what for name, what in modules.items() if name.startswith(prefix)}
        for needs, modules in structure.items()
    }


class _Marks(ModuleType):
    """Of torch's compiler: the marks that transformers puts on functions as it is imported."""

    @staticmethod
    def disable(fn: Callable[..., Any], recursive: bool = True, wrapping: bool = True, **_: Any) -> Callable[..., Any]:
        """Torch's own way to ask for the compiler when the function is called; if nothing is wrapped, that is now."""
        if not wrapping:
            return fn
        return torch._disable_dynamo(fn, recursive)  # type: ignore[attr-defined]

    @staticmethod
    def assume_constant_result(fn: Any) -> Any:
        """What the compiler does."""
        fn._dynamo_marked_constant = True
        return fn

    @staticmethod
    def allow_in_graph(fn: Any) -> Any:
        """On graphics cards' kernels for 8-bit numbers: compiled without the mark, they are looked into."""
        return fn

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _give_way(self)
        return getattr(import_module(DYNAMO), name)


@contextmanager
def _compiler_later() -> Iterator[None]:
    """Have torch's compiler imported when something is compiled, and not to mark functions for it."""
    if type(sys.modules.get(DYNAMO)) is ModuleType:  # the compiler itself, and nothing that stands for it elsewhere
        yield
        return
    marks, indexing = _Marks(DYNAMO), ModuleType(INDEXING)
    marks.__path__, marks.__file__ = [], __file__
    indexing.TransformGetItemToIndex = _indexing  # type: ignore[attr-defined]
    sys.modules |= {DYNAMO: marks, INDEXING: indexing}
    torch._dynamo = marks
    try:
        yield
    finally:
        _give_way(marks)


def _give_way(marks: ModuleType) -> None:
    """Whoever asks for the compiler from now on gets it."""
    if sys.modules.get(DYNAMO) is marks:
        del sys.modules[DYNAMO], sys.modules[INDEXING], torch._dynamo


def _indexing() -> Any:
    """What masks that are made by ``vmap`` are indexed with; ours are not."""
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    return TransformGetItemToIndex()
