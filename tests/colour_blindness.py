"""Colours as eyes without one kind of cone see them, and how far apart two of them are."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from tests.contrast import Colour

VISIONS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Machado, Oliveira and Fernandes 2009, severity 1.0: matrices for linear red, green and blue."""

_CONES = np.array(
    [
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    ]
)
_OKLAB = np.array(
    [
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    ]
)
"""Ottosson 2020."""


def oklab(colour: Colour, vision: str = "all cones") -> np.ndarray:
    """Return lightness, green-red and blue-yellow of a colour, red, green and blue from 0 to 255."""
    share = np.array(colour, float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    perceived = np.clip(np.array(VISIONS[vision], float) @ linear, 0, 1)
    return _OKLAB @ np.cbrt(_CONES @ perceived)


def closest(colours: Iterable[Colour], vision: str) -> float:
    """Return the smallest distance between any two colours in OKLab; about 0.02 can just be seen."""
    points = [oklab(colour, vision) for colour in colours]
    return min(float(np.linalg.norm(first - second)) for first, second in combinations(points, 2))
