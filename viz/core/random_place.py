"""Pseudorandom choice of the place that a live check computes, reproducible for the same page."""

from hashlib import blake2b


def random_place(n: int, *of: object) -> int:
    """Return a number below ``n`` that depends on what the page shows alone, so that a reload finds the same.

    Args:
        n: how many places there are, at least one.
        of: small frozen values that say what is shown, and a word for what is looked for in it.

    Example:
        >>> random_place(5, "a text", "row") == random_place(5, "a text", "row")
        True
        >>> {random_place(5, text, "row") for text in range(50)} == set(range(5))
        True
    """
    return int.from_bytes(blake2b(repr(of).encode("utf-8", "replace"), digest_size=8).digest(), "big") % n
