"""The user's inputs (words' vectors and a layer's matrices, or Q, K and V) and their encoding in a link.

Numbers have two decimals and are stored as integer hundredths, so that screen, link and file agree exactly.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from viz import limits

MOST = limits.OWN_NUMBER
"""A number lies between -MOST and MOST."""

PROJECTED, DIRECT = ("x", "w_q", "w_k", "w_v", "w_o"), ("q", "k", "v", "w_o")
"""Names of the inputs in the order of a link: X and four matrices, or Q, K, V and W_O."""

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_ZERO = len(_DIGITS) ** 2 // 2
_CODE = re.compile(r"([xq])([1-9])([1-9])([1-9])\.([A-Za-z0-9_-]+)", re.ASCII)
_LONGEST = 5 + 2 * limits.OWN_WIDTH * (limits.OWN_WORDS + 4 * limits.OWN_WIDTH)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The inputs of a layer: n words of d numbers, divided among the heads; Q, K and V in place of X if ``is_direct``.

    ``hundredths`` are a hundred times each number, matrix by matrix, row by row.

    Raises:
        ValueError: if a size or a number is not allowed, or the count does not fit the sizes.
    """

    n: int
    d: int
    n_heads: int
    is_direct: bool
    hundredths: tuple[int, ...]

    def __post_init__(self) -> None:
        most = {"n": limits.OWN_WORDS, "d": limits.OWN_WIDTH, "n_heads": limits.OWN_HEADS}
        for name, largest in most.items():
            if not 1 <= getattr(self, name) <= largest:
                raise ValueError(f"{name}={getattr(self, name)} is not from 1 to {largest}")
        if self.d % self.n_heads:
            raise ValueError(f"d={self.d} is not a multiple of n_heads={self.n_heads}")
        if len(self.hundredths) != (expected := sum(map(math.prod, self.shapes.values()))):
            raise ValueError(f"{len(self.hundredths)} numbers, these sizes take {expected}")
        if any(abs(number) > 100 * MOST for number in self.hundredths):
            raise ValueError(f"a number is not from {-MOST} to {MOST}")

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of the inputs by name, in order."""
        names = DIRECT if self.is_direct else PROJECTED
        return {name: (self.d if name.startswith("w_") else self.n, self.d) for name in names}

    @property
    def d_k(self) -> int:
        """Width of a query, a key and a value."""
        return self.d // self.n_heads

    @property
    def matrices(self) -> dict[str, Tensor]:
        """The inputs by name, in double precision."""
        pieces = torch.tensor(self.hundredths, dtype=torch.float64).split(list(map(math.prod, self.shapes.values())))
        return {name: piece.view(shape) / 100 for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)}

    def with_number(self, matrix: str, row: int, column: int, value: Any) -> "Numbers":
        """Return a copy with one number replaced.

        Raises:
            ValueError: if there is no such place, or the number is not allowed.
        """
        rows, columns = self.shapes.get(matrix, (0, 0))
        if not (0 <= row < rows and 0 <= column < columns):
            raise ValueError(f"no number at {matrix!r:.20} {row} {column}")
        names = list(self.shapes)
        at = sum(math.prod(self.shapes[name]) for name in names[: names.index(matrix)]) + row * columns + column
        hundredths = (*self.hundredths[:at], hundredth(value), *self.hundredths[at + 1 :])
        return replace(self, hundredths=hundredths)

    def resized(self, n: int, d: int, n_heads: int) -> "Numbers":
        """Return a copy with other sizes: matrices are cut, or padded with 0 and, if square, with 1 on the diagonal.

        The number of heads is the largest up to ``n_heads`` that divides ``d``.
        """
        heads = max(h for h in range(1, n_heads + 1) if d % h == 0)
        grown = {}
        for name, matrix in self.matrices.items():
            is_square = name.startswith("w_")
            fresh = torch.eye(d, dtype=matrix.dtype) if is_square else torch.zeros(n, d, dtype=matrix.dtype)
            rows, columns = min(len(matrix), len(fresh)), min(self.d, d)
            fresh[:rows, :columns] = matrix[:rows, :columns]
            grown[name] = fresh
        return of_matrices(grown, heads)


def of_matrices(matrices: dict[str, Any], n_heads: int) -> Numbers:
    """Return the numbers of matrices by name, rounded and clamped to MOST; the matrices give the sizes.

    Raises:
        ValueError: if their sizes are not allowed.
    """
    is_direct = "q" in matrices
    tensors = [torch.as_tensor(matrices[name], dtype=torch.float64) for name in (DIRECT if is_direct else PROJECTED)]
    n, d = tensors[0].shape
    values = [hundredth(value) for tensor in tensors for value in tensor.clamp(-MOST, MOST).flatten().tolist()]
    return Numbers(n=n, d=d, n_heads=n_heads, is_direct=is_direct, hundredths=tuple(values))


def hundredth(value: Any) -> int:
    """Convert a number to integer hundredths.

    Raises:
        ValueError: if it is not a number, or too large.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not -MOST <= value <= MOST:
        raise ValueError(f"{value!r:.40} is not a number from {-MOST} to {MOST}")
    return round(100 * value)


def to_code(numbers: Numbers) -> str:
    """Encode numbers for a link: the kind of inputs, three sizes, a dot, and two characters per number.

    Example:
        >>> to_code(of_matrices({"q": [[1.0]], "k": [[0.0]], "v": [[-0.01]], "w_o": [[20]]}, 1))
        'q111.hkgAf__Q'
    """
    sizes = f"{'q' if numbers.is_direct else 'x'}{numbers.n}{numbers.d}{numbers.n_heads}"
    pairs = (divmod(number + _ZERO, len(_DIGITS)) for number in numbers.hundredths)
    return f"{sizes}.{''.join(_DIGITS[high] + _DIGITS[low] for high, low in pairs)}"


def from_code(code: str) -> Numbers:
    """Decode the numbers that :func:`to_code` encoded; each has exactly one code.

    Raises:
        ValueError: if ``code`` is not three sizes and the numbers they require.
    """
    match = _CODE.fullmatch(code) if len(code) <= _LONGEST else None
    if not match or len(match[5]) % 2:
        raise ValueError(f"code={code[:40]!r} is not three sizes, a dot and two characters for each number")
    places = [_DIGITS.index(character) for character in match[5]]
    hundredths = tuple(len(_DIGITS) * high + low - _ZERO for high, low in zip(places[::2], places[1::2], strict=True))
    n, d, n_heads = (int(match[size]) for size in (2, 3, 4))
    return Numbers(n=n, d=d, n_heads=n_heads, is_direct=match[1] == "q", hundredths=hundredths)


def is_code(code: Any) -> bool:
    """Return True if :func:`from_code` can decode it."""
    try:
        from_code(code)
    except (TypeError, ValueError):
        return False
    return True
