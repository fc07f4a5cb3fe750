"""Alignment of the tokens of two texts: the fewest changes that turn the one into the other."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Slot:
    """A position of an alignment: in both texts, or in one of them.

    ``kind`` is "same", "replaced", "removed" (only the first text has it, at place ``a``) or "inserted" (only the
    second has it, at ``b``).
    """

    kind: str
    a: int | None
    b: int | None


@dataclass(frozen=True)
class Alignment:
    """Every token of both texts in one order, each once."""

    slots: tuple[Slot, ...]

    def __len__(self) -> int:
        return len(self.slots)

    @cached_property
    def a(self) -> Tensor:
        """For each slot the token of the first text, -1 where it has none."""
        return torch.tensor([-1 if slot.a is None else slot.a for slot in self.slots])

    @cached_property
    def b(self) -> Tensor:
        """For each slot the token of the second text, -1 where it has none."""
        return torch.tensor([-1 if slot.b is None else slot.b for slot in self.slots])

    @property
    def changes(self) -> int:
        """Number of slots that differ between the texts."""
        return sum(slot.kind != "same" for slot in self.slots)


def align(
    a: Sequence[Hashable], b: Sequence[Hashable], kinds: tuple[Sequence[int], Sequence[int]] | None = None
) -> Alignment:
    r"""Pair the tokens of two texts with the fewest replaced, removed and inserted (Levenshtein 1966).

    .. math:: D_{ij} = \min(D_{i-1,j-1} + [a_i \ne b_j],\; D_{i-1,j} + 1,\; D_{i,j-1} + 1)

    Of several ways with as few changes, one that keeps the most tokens; where a stretch was replaced by a shorter one,
    its first tokens are paired. A sequence matcher that looks for long common stretches, as ``difflib`` does, may need
    more changes than there are.

    Args:
        a: the tokens of the first text, as what is compared.
        b: those of the second.
        kinds: a number for each token of either; tokens of two kinds are never paired.

    Example:
        >>> [slot.kind for slot in align("too tired .".split(), "much too wide .".split()).slots]
        ['inserted', 'same', 'replaced', 'same']
    """
    kinds_a, kinds_b = kinds or ((0,) * len(a), (0,) * len(b))
    same, alike = _equal(a, b), _equal(kinds_a, kinds_b)
    cost = _costs(same & alike, alike)
    return Alignment(tuple(_back(cost, same & alike, alike, len(a) + len(b) + 1)))


def _equal(a: Sequence[Hashable], b: Sequence[Hashable]) -> Tensor:
    """True where a token of the one is a token of the other, (A, B)."""
    numbers = {token: number for number, token in enumerate(dict.fromkeys([*a, *b]))}
    rows, columns = (torch.tensor([numbers[token] for token in text], dtype=torch.long) for text in (a, b))
    return rows[:, None] == columns


def _costs(same: Tensor, alike: Tensor) -> Tensor:
    """Cost of turning the first i tokens into the first j, (A + 1, B + 1): fewest changes, then most kept tokens.

    A row at a time: an insertion depends on the cell before it in the row, so the best start of a run of insertions is
    a running minimum.
    """
    n, m = same.shape
    # A change costs more than all tokens that can be kept; removing one and inserting the other is never better.
    change = n + m + 1
    never = 2 * change
    paired = torch.where(same, -1, torch.where(alike, change, never))
    steps = change * torch.arange(m + 1)
    rows = [steps]
    for i in range(n):
        up, diagonal = rows[-1] + change, rows[-1][:-1] + paired[i]
        best = torch.cat([up[:1], torch.minimum(up[1:], diagonal)])
        rows.append((best - steps).cummin(0).values + steps)
    return torch.stack(rows)


def _back(cost: Tensor, same: Tensor, alike: Tensor, change: int) -> list[Slot]:
    """Trace one cheapest path back from its end."""
    table, equal, same_kind = cost.tolist(), same.tolist(), alike.tolist()
    i, j = len(table) - 1, len(table[0]) - 1
    slots: list[Slot] = []
    while i or j:
        total = table[i][j]
        if i and j and equal[i - 1][j - 1] and total == table[i - 1][j - 1] - 1:
            i, j = i - 1, j - 1
            slots.append(Slot("same", i, j))
        elif j and total == table[i][j - 1] + change:
            j -= 1
            slots.append(Slot("inserted", None, j))
        elif i and total == table[i - 1][j] + change:
            i -= 1
            slots.append(Slot("removed", i, None))
        else:
            i, j = i - 1, j - 1
            assert same_kind[i][j]
            slots.append(Slot("replaced", i, j))
    return slots[::-1]
