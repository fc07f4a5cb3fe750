"""Cached results of the page: the heads of small decoders before their training."""

from viz.frame.compute import cached
from viz.models.trained.today.train import RECIPE, Heads, build, measure_heads


@cached
def untrained_heads(variant: str, seed: int) -> Heads:
    """Build a decoder as its training begins, and measure its heads as they were measured then."""
    return measure_heads(build(variant, RECIPE, seed=seed).eval(), RECIPE)
