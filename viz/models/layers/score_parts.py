"""A head of a real model with all that is written into the stream in front of it, for the split of its scores."""

from dataclasses import replace

import torch
from torch import Tensor

from viz.core.analysis.score_parts import ScoringHead
from viz.core.norm import NormWeights
from viz.models.blocks import find_block_layout, model_blocks
from viz.models.capture import Capture
from viz.models.layers.positions import norm_weights, query_key_change
from viz.models.layout import LoadedModel

LONG = 4.0
"""Times the median length from which a token's stream is a sink's: of SmolLM2's they have 6 to 10."""


def refusal(model: LoadedModel, capture: Capture, layer: int) -> str:
    """Return a sentence on what keeps a layer's scores from being split; "" if nothing does."""
    if model.model.config.is_encoder_decoder:
        return "Scores are split in models with one stack; this one has an encoder and a decoder."
    call = capture.calls[layer]
    options = call.options
    reasons = {
        "a bias of its own on every score (ALiBi, T5)": options.get("bias") is not None,
        "a cap on its scores": options.get("score_mod") is not None,
        "a learned sink": options.get("sink") is not None,
        "latent attention": any(call.latent is not None for call in capture.calls),
        "gates": any(call.gate is not None for call in capture.calls),
        "norms of queries and keys": "norm" in call.rotation,
        "keys of another layer": any(not call.has_own_values for call in capture.calls),
    }
    if reason := next((reason for reason, is_there in reasons.items() if is_there), ""):
        return f"This model has {reason}, with which the split has not been tried."
    if find_block_layout(model, next(iter(capture.stacks))).norm not in ("pre", "post"):
        return "This model has norms behind its parts, in front of the sum, with which the split has not been tried."
    return ""


def visible_tokens(capture: Capture, layer: int, query: int) -> Tensor:
    """True for the tokens that a query may look at, (T,)."""
    allowed = capture.calls[layer].options.get("allowed")
    every = torch.ones(len(capture.tokens.ids), dtype=torch.bool)
    return every if allowed is None else allowed.flatten(0, -3)[0, query] if allowed.dim() > 2 else allowed[query]


def sinks(capture: Capture, layer: int) -> list[int]:
    """Tokens whose stream is several times as long as the others': a share of their scores says little."""
    stack = next(iter(capture.stacks))
    lengths = capture.states[stack][layer].norm(dim=-1)
    return (lengths > LONG * lengths.median()).nonzero().flatten().tolist()


def words_of(capture: Capture, layer: int) -> list[int]:
    """Tokens that scores are split for and held against: no special ones, no sinks, not the first of a decoder."""
    left_out = {*sinks(capture, layer), *([0] if "decoder" in capture.stacks else [])}
    return [at for at, special in enumerate(capture.tokens.special) if not special and at not in left_out]


def scoring_heads(model: LoadedModel, capture: Capture, layer: int) -> tuple[ScoringHead, ...]:
    """Return every head of a layer, with the parts of the streams in front of it.

    Args:
        model: a model whose blocks the core has, with norms before or behind its sums.
        capture: a text as it saw it.
        layer: counted from 0, in the first stack.

    Raises:
        ModelError: "block", if the family's blocks are not known.
        ValueError: if what its first layer reads is not the sum of words and places.
    """
    blocks, call = model_blocks(model, capture), capture.calls[layer]
    w, scale = call.projections, call.options.get("scale")
    word, place, constant, embedding_norm = _embedding(model, capture, blocks.x)
    w_q, b_q = _by_head(w.w_q, w.b_q, w.spec.H)
    # Neighbours share a key's matrix, as in share_kv.
    w_k, b_k = (part.repeat_interleave(w.spec.H // w.spec.G, 0) for part in _by_head(w.w_k, w.b_k, w.spec.G))
    shared = ScoringHead(
        word=word, place=place, constant=constant, embedding_norm=embedding_norm, design=blocks.design,
        blocks=blocks.choose(range(layer)).run(), turns=_turns(model, capture, layer),
        norm=blocks.weights[layer].attention_norm if blocks.design.norm == "pre" else None,
        scale=w.spec.d_k**-0.5 if scale is None else scale, w_q=w_q[0], b_q=b_q[0], w_k=w_k[0], b_k=b_k[0],
    )  # fmt: skip
    return tuple(replace(shared, w_q=w_q[h], b_q=b_q[h], w_k=w_k[h], b_k=b_k[h]) for h in range(w.spec.H))


def _by_head(w: Tensor, b: Tensor | None, n: int) -> tuple[Tensor, Tensor]:
    """A matrix (n, d_model, d_k) and a bias (n, d_k) for each head, zero where there is none."""
    bias = w.new_zeros(w.shape[1]) if b is None else b
    return w.unflatten(1, (n, -1)).transpose(0, 1), bias.unflatten(0, (n, -1))


def _turns(model: LoadedModel, capture: Capture, layer: int) -> Tensor | None:
    """The matrix that turns queries and keys at each place, (T, d_k, d_k); None for a model that turns none."""
    call = capture.calls[layer]
    if not call.is_changed:
        return None
    n, d_k = call.q.shape[1:]
    rows = torch.eye(d_k)[:, None].expand(-1, n, -1)
    of_stack = [part for part in model.layers if part.layout.stack == next(iter(capture.stacks))]
    with torch.inference_mode():
        return query_key_change(model, of_stack[layer], call.rotation)(rows, rows)[0].transpose(0, 1)


def _embedding(model: LoadedModel, capture: Capture, x: Tensor) -> tuple[Tensor, Tensor, Tensor, NormWeights | None]:
    """Words, places and token types of a text, each (T, d_model), and the norm behind their sum, if there is one."""
    word, rows = model.embeddings(list(capture.tokens.ids)), model.positions()
    place = torch.zeros_like(word) if rows is None else rows[: len(word)]
    embeddings = getattr(model.model.base_model, "embeddings", None)
    types, norm = (getattr(embeddings, name, None) for name in ("token_type_embeddings", "LayerNorm"))
    constant = torch.zeros_like(word) if types is None else types.weight.detach()[:1].expand_as(word)
    weights = None if norm is None else norm_weights(norm)
    with torch.inference_mode():
        total = word + place + constant
        total = total if norm is None else norm(total)
    if not torch.allclose(total, x, atol=1e-4 * float(x.abs().max()), rtol=0):
        raise ValueError("What this model's first layer reads is not the sum of its words and places.")
    return word, place, constant, weights
