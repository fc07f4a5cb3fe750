"""Alignment of tokens: by hand, and against an exhaustive search."""

import random
from functools import cache

import pytest

from viz.core.comparison.alignment import align


def kinds(a: str, b: str) -> str:
    return " ".join(slot.kind[:3] for slot in align(a.split(), b.split()).slots)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("a big red fox", "a small fox", "sam rep rem sam"),  # the first of a stretch is paired
        ("a b", "b a", "rem sam ins"),  # as few changes as replacing both, and a token is kept
        ("a a a", "a a", "rem sam sam"),
    ],
)
def test_by_hand(a, b, expected):
    assert kinds(a, b) == expected


def fewest(a: tuple[int, ...], b: tuple[int, ...], of_a: tuple[int, ...], of_b: tuple[int, ...]) -> tuple[int, int]:
    """Return the fewest changes and, for them, the most equal tokens, by exhaustive search."""

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j, 0
        ways = [(best(i + 1, j), 1, 0), (best(i, j + 1), 1, 0)]
        if of_a[i] == of_b[j]:
            ways.append((best(i + 1, j + 1), int(a[i] != b[j]), -int(a[i] == b[j])))
        return min((changes + more, matches + match) for (changes, matches), more, match in ways)

    changes, matches = best(0, 0)
    return changes, -matches


def test_every_token_once_with_fewest_changes():
    chance = random.Random(5)
    for _ in range(300):
        a, b = (tuple(chance.choices(range(3), k=chance.randrange(8))) for _ in range(2))
        of_a, of_b = (tuple(token // 2 for token in text) for text in (a, b))  # the third token is of another kind
        alignment = align(a, b, (of_a, of_b))
        assert [slot.a for slot in alignment.slots if slot.a is not None] == list(range(len(a)))
        assert [slot.b for slot in alignment.slots if slot.b is not None] == list(range(len(b)))
        for slot in alignment.slots:
            both = slot.a is not None and slot.b is not None
            assert both == (slot.kind in ("same", "replaced"))
            assert not both or (a[slot.a] == b[slot.b]) == (slot.kind == "same")
            assert not both or of_a[slot.a] == of_b[slot.b]
        matches = sum(slot.kind == "same" for slot in alignment.slots)
        assert (alignment.changes, matches) == fewest(a, b, of_a, of_b)
        back = align(b, a, (of_b, of_a))
        assert (back.changes, len(back) - back.changes) == (alignment.changes, matches)


def test_equal_texts_align_long_texts_fast():
    words = [f"w{i % 7}" for i in range(512)]
    assert align(words, words).changes == 0
    assert align(words, words[::-1]).changes <= 512
    assert align(words, words).a.tolist() == list(range(512))
