"""What the page about two sequences computes beside ``viz.frame.compute``, kept by the same rules."""

from viz import limits
from viz.frame import compute
from viz.frame.specs import Source
from viz.models.capture import Capture, capture_tokens
from viz.models.cross import self_error
from viz.models.generation import Writing, write


@compute.kept
def self_attention_error(source: Source, layer: int) -> float:
    """How far a text's cross-attention to itself is from its self-attention."""
    return self_error(compute.read(source), layer)


@compute.kept
def written(source: Source) -> tuple[Writing, Capture]:
    """What an encoder-decoder writes when it reads a text, step by step; and the same words read in one pass."""
    loaded = compute.model(source.model)
    writing = write(loaded, source.text, max_new=limits.WRITTEN_TOKENS, max_tokens=limits.TOKENS)
    return writing, capture_tokens(loaded, writing.tokens, target=writing.target)
