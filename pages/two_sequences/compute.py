"""Cached results of the page that ``viz.frame.compute`` does not have."""

from viz import limits
from viz.frame import compute
from viz.frame.specs import Source
from viz.models.capture import Capture, capture_tokens
from viz.models.cross import self_error
from viz.models.generation import Writing, write


@compute.cached
def self_attention_error(source: Source, layer: int) -> float:
    """Return the difference between a text's cross-attention to itself and its self-attention."""
    return self_error(compute.read(source), layer)


@compute.cached
def write_twice(source: Source) -> tuple[Writing, Capture]:
    """Return an encoder-decoder's output for a text step by step, and a capture of the same words in one pass."""
    loaded_model = compute.model(source.model)
    writing = write(loaded_model, source.text, max_new=limits.WRITTEN_TOKENS, max_tokens=limits.TOKENS)
    return writing, capture_tokens(loaded_model, writing.tokens, target=writing.target)
