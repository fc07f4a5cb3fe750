"""Building a model without what torch would import for it, of which nothing is used."""

from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

DRAW = nn.init.normal_
FREQUENCIES = (torch.Tensor.div, torch.Tensor.__rpow__, torch.Tensor.__rdiv__)
"""What frequencies of rotary positions are made with: :math:`1 / base^{i / d}`."""


class Building(TorchFunctionMode):
    """Build a model out of tensors that hold nothing yet, and then make room for what they will hold.

    On such tensors torch would import its compiler to draw random numbers or to divide, and sympy to count or to make
    room.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Leave empty what is empty; count and divide where numbers are; room has a shape and no more."""
        options = kwargs or {}
        if func is DRAW and options["tensor"].is_meta:
            return options["tensor"]
        if func is torch.arange and _is_meta(options):
            return func(*args, **options | {"device": "cpu"}).to("meta")
        if func in FREQUENCIES and args[0].is_meta and not any(isinstance(other, torch.Tensor) for other in args[1:]):
            return func(torch.ones(args[0].shape, dtype=args[0].dtype, device="cpu"), *args[1:], **options).to("meta")
        if func is torch.empty_like and args[0].is_meta and not _is_meta(options):
            return torch.empty(args[0].shape, **{"dtype": args[0].dtype} | options)
        return func(*args, **options)


def _is_meta(options: dict[str, Any]) -> bool:
    """Whether a tensor that is made so holds nothing."""
    return torch.device(options.get("device") or torch.get_default_device()).type == "meta"
