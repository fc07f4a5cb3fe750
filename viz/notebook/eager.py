"""Eager attention, which keeps its weights: asked for, checked, and taken back afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Run a model without dropout and gradients; afterwards each of its modules trains again if it did."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        # Not in inference mode: a training could not use what a module keeps of this pass.
        with torch.no_grad():
            yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def keeping_weights(model: Any) -> Iterator[None]:
    """Have a model compute eager attention as long as this lasts.

    Raises:
        ValueError: if some attention of it goes on being computed otherwise: its weights need not be those it uses.
    """
    before, change = implementation(model), getattr(model, "set_attn_implementation", None)
    try:
        if change and before != "eager":
            change("eager")
        check_granted(model)
        yield
    finally:
        if change and before not in ("eager", None):
            change(before)


def implementation(module: Any) -> str | None:
    """Return how a model or a layer computes attention, as its configuration says; None if it says nothing."""
    return getattr(getattr(module, "config", None), "_attn_implementation", None)


def check_granted(model: Any) -> None:
    """Refuse a model of which some module does not compute eager attention.

    Raises:
        ValueError: naming the module and its way.
    """
    # Layers come before the model, so that the sentence names one.
    for path, module in reversed(list(model.named_modules())):
        name = type(module).__name__
        # Classes of transformers up to 4.47; a family may be called Flash itself.
        kind = "flash" if name.endswith("FlashAttention2") else "sdpa" if "Sdpa" in name else implementation(module)
        if kind not in ("eager", None) and ("Attention" in name or not path):
            raise ValueError(
                f"{type(model).__name__} was asked for eager attention and {name} still computes {kind!r}, so the "
                "weights it gives need not be those it uses. Load the model so: "
                'from_pretrained(..., attn_implementation="eager").'
            )
