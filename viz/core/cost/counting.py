"""torch's own counter of multiplications, without its compiler: a second, and 150 MB of a server's memory.

torch would import it only to say which of its functions it lets alone: what counts, and what works on tensors that have
a shape and no numbers.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from types import ModuleType, NoneType
from typing import Any

import torch

__all__ = ["FlopCounterMode", "compiler_aside"]

COMPILER, KERNELS = "torch._dynamo", "triton.runtime.jit"


class _None(ModuleType):
    """Stands for the compiler where nothing is compiled."""

    JITFunction = NoneType
    """A kernel for graphics cards; torch's own stand-in where there are none."""

    @staticmethod
    def disable(fn: Callable[..., Any], recursive: bool = True, **_: Any) -> Callable[..., Any]:
        """The function as the compiler lets it alone, which torch keeps and calls: as it is."""
        return fn


_lock = Lock()
_inside = list[None]()
_stand_ins = {name: _None(name) for name in (COMPILER, KERNELS)}


def _give_way() -> None:
    """From now on there is the compiler for whoever asks for it."""
    for name, stand_in in _stand_ins.items():
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
    if vars(torch).get("_dynamo") is _stand_ins[COMPILER]:
        del torch._dynamo


@contextmanager
def compiler_aside() -> Iterator[None]:
    """Do without the compiler inside, unless it is there already; whoever asks for it afterwards has it."""
    with _lock:
        _inside.append(None)
        if COMPILER not in sys.modules:
            for name, stand_in in _stand_ins.items():
                sys.modules.setdefault(name, stand_in)
            torch._dynamo = _stand_ins[COMPILER]
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if not _inside:
                _give_way()


with compiler_aside():
    from torch.utils import flop_counter


class FlopCounterMode(flop_counter.FlopCounterMode):
    """torch's counter; inside, nothing is compiled."""

    _aside: AbstractContextManager[None]

    def __init__(self, *, custom_mapping: dict[Any, Any] | None = None) -> None:
        super().__init__(display=False, custom_mapping=custom_mapping)

    def __enter__(self) -> "FlopCounterMode":
        self._aside = compiler_aside()
        self._aside.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._aside.__exit__(None, None, None)
