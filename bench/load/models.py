"""The mix of models that users choose, of those that the server offers."""

import argparse
import random
from collections.abc import Mapping, Sequence
from math import isfinite

from viz.models.registry import entries

MIX = {
    entries()[0].id: 0.70,
    "SmolLM2-135M-Instruct": 0.12,
    "multilingual-e5-small": 0.10,
    "twin-g2": 0.04,
    "animals-en-zh": 0.04,
}
"""Of a public page's users most stay with what it opens with; the two packaged models are what the rest come for."""


def pick_model(chance: random.Random, shares: Mapping[str, float], available: Sequence[str]) -> str:
    """One of the models offered, in these shares; "" if none of them is offered, or no shares are named."""
    there = {model: share for model, share in shares.items() if model in available and share}
    return chance.choices(list(there), list(there.values()))[0] if there else ""


def shares(text: str) -> dict[str, float]:
    """Of ``gpt2=0.3,twin-g2=0.7``: how many choose which.

    Raises:
        argparse.ArgumentTypeError: if that is not what is said.
    """
    shares_: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        model, _, share = part.strip().partition("=")
        try:
            shares_[model] = float(share)
        except ValueError:
            shares_[model] = -1
        if not (isfinite(shares_[model]) and shares_[model] >= 0):
            raise argparse.ArgumentTypeError(f"{part!r} is not MODEL=SHARE")
    return shares_
