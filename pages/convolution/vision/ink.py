"""A drawn digit as a link holds it: a sign for the ink of each of 8 x 8 pixels (client/convolution/ink_code.js)."""

import torch
from torch import Tensor

from viz.models.trained.digits import LEVELS, SIDE

SIGNS = "0123456789abcdefg"
"""0 to 16."""


def is_ink(code: str) -> bool:
    """Return whether a code is empty or a complete digit."""
    return code == "" or (len(code) == SIDE * SIDE and set(code) <= set(SIGNS))


def to_levels(code: str) -> Tensor:
    """The ink of every pixel, (8, 8); of no code, none.

    Example:
        >>> to_levels("").sum().item(), to_levels("g" + 63 * "0")[0, 0].item()
        (0, 16)
    """
    return torch.tensor([SIGNS.index(sign) for sign in code or "0" * SIDE * SIDE], dtype=torch.uint8).reshape(
        SIDE, SIDE
    )


def to_code(levels: Tensor) -> str:
    """Undo :func:`to_levels`.

    Example:
        >>> to_code(to_levels("0123456789abcdef" * 4))[:17]
        '0123456789abcdef0'
    """
    return "".join(SIGNS[level] for level in levels.flatten().tolist())


def as_picture(levels: Tensor) -> Tensor:
    """The picture for a model, (1, 8, 8): 0 is blank, 1 is full of ink."""
    return levels.float()[None] / LEVELS


def check_drawn(code: str) -> None:
    """Reject a code that is not a complete digit.

    Raises:
        ValueError: if it is not.
    """
    if not code or not is_ink(code):
        raise ValueError(f"code={code[:40]!r} is no digit")
