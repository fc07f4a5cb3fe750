"""The numbers that layers with maps have in their model, found by the module that made each map."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor

IN_PATH = re.compile(r"(?:^|\.)(\d+)(?:\.|$)")


@contextmanager
def noting_makers(model: Any) -> Iterator[dict[int, str]]:
    """Note which module returned each tensor of four axes among others: its path, by where the numbers lie."""
    makers: dict[int, str] = {}

    def note(path: str) -> Any:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            for part in output if isinstance(output, tuple) else ():
                if isinstance(part, Tensor) and part.dim() == 4:
                    # Of memory that was used before, the last module counts.
                    makers[part.data_ptr()] = path

        return hook

    hooks = [module.register_forward_hook(note(path)) for path, module in model.named_modules() if IN_PATH.search(path)]
    try:
        yield makers
    finally:
        for hook in hooks:
            hook.remove()


def rounds_of(attentions: Sequence[Any], makers: dict[int, str]) -> int:
    """Return how many modules made these maps, where some made several; 0 where each made one or it is not known."""
    paths = [makers.get(layer.data_ptr(), "") for layer in attentions if isinstance(layer, Tensor)]
    return len(set(paths)) if "" not in paths and len(set(paths)) < len(paths) else 0


def numbers_of(attentions: Sequence[Any], makers: dict[int, str], config: Any) -> list[int]:
    """Return the number of each layer in the model.

    A place with None is a layer without a map. Else the module's path tells; else what the configuration calls layers
    of attention. Modules that several layers share tell nothing.
    """
    if any(layer is None for layer in attentions):
        return list(range(len(attentions)))
    paths = [makers.get(layer.data_ptr(), "") if isinstance(layer, Tensor) else "" for layer in attentions]
    path_numbers = [int(match[1]) for path in paths if (match := IN_PATH.search(path))]
    if len(path_numbers) == len(attentions) and path_numbers == sorted(set(path_numbers)):
        return path_numbers
    kinds = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None) or []
    attending = [i for i, kind in enumerate(kinds) if "attention" in str(kind) and "linear" not in str(kind)]
    return attending if len(attending) == len(attentions) else list(range(len(attentions)))
