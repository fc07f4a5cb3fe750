"""Binary data of two views of masks: the painter (``mask_painter.js``) and the growing text (``growing.js``)."""

from typing import Any

import torch
from torch import Tensor

from viz.components.head_grid import pack


def pack_painter(scores: Tensor, visible: Tensor, model_allowed: Tensor, **header: Any) -> bytes:
    """Pack a mask to paint on, and the scores under it.

    Args:
        scores: (T, T) of one head, scaled, with the model's bias, not masked.
        visible: (T, T), the mask on the page.
        model_allowed: (T, T), the model's own mask; a cell that it blocks cannot be opened.
        header: ``labels``, ``words``, ``hues``, ``head``, ``sent``.
    """
    blocks = {"scores": scores.float(), "allowed": visible.to(torch.uint16), "own": model_allowed.to(torch.uint16)}
    return pack({"n": len(scores), **header}, blocks).data


def pack_growing(scores: Tensor, **header: Any) -> bytes:
    """Pack the unmasked scores (T, T) of one head; ``header`` has ``labels``, ``words`` and ``hues``."""
    return pack({"n": len(scores), **header}, {"scores": scores.float()}).data
