"""What two views of masks are sent: the painter (``mask_painter.js``) and the text that grows (``growing.js``)."""

from typing import Any

import torch
from torch import Tensor

from viz.components.head_grid import pack


def pack_painter(scores: Tensor, allowed: Tensor, model_allowed: Tensor, **header: Any) -> bytes:
    """Pack a mask to paint on, and the scores it is laid over.

    Args:
        scores: (T, T) of one head, scaled and with what the model adds to them, not masked.
        allowed: (T, T), the mask on the page.
        model_allowed: (T, T), the mask the model has anyway; a cell it blocks cannot be opened.
        header: ``labels``, ``words``, ``hues``, ``head``, ``sent``.
    """
    blocks = {"scores": scores.float(), "allowed": allowed.to(torch.uint16), "own": model_allowed.to(torch.uint16)}
    return pack({"n": len(scores), **header}, blocks).data


def pack_growing(scores: Tensor, **header: Any) -> bytes:
    """Pack the scores (T, T) of one head that nobody has masked; ``header`` has ``labels``, ``words`` and ``hues``."""
    return pack({"n": len(scores), **header}, {"scores": scores.float()}).data
