"""Validation of models' configurations, tokenizers and numbers; every refusal is a sentence for the page."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from viz.errors import ModelError
from viz.models.layout import LoadedModel
from viz.models.tokens import Tokens

LARGEST = 10_000_000
"""Of any whole number in a configuration: a vocabulary has at most a few hundred thousand words."""

COUNTS = {
    512: (
        "num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers", "encoder_layers",
        "decoder_layers",
    ),
    1024: (
        "num_attention_heads", "n_head", "n_heads", "num_heads", "num_key_value_heads", "encoder_attention_heads",
        "decoder_attention_heads",
    ),
    65_536: ("hidden_size", "n_embd", "d_model", "dim", "head_dim", "d_kv", "d_ff", "intermediate_size", "hidden_dim"),
    LARGEST: ("vocab_size", "max_position_embeddings", "n_positions"),
}  # fmt: skip
"""The most of each kind; the least is 1. The largest models published have 126 layers and 128 heads."""

FOLLOWED_BLINDLY = ("quantization_config", "attn_implementation", "_attn_implementation", "transformers_weights")
"""Keys that make transformers load in another way, or another file."""


def refusal_reason(config: dict[str, Any]) -> str | None:
    """Return the reason why a configuration cannot be used, in a few words; None if it can."""
    for name in FOLLOWED_BLINDLY:
        if config.get(name) is not None:
            return f"config.json: {name} is not followed here"
    for most, names in COUNTS.items():
        for name in names:
            value = config.get(name)
            if value is not None and not (type(value) is int and 1 <= value <= most):
                return f"config.json: {name} is not a whole number from 1 to {most}"
    for name, value in _numbers(config):
        if not math.isfinite(value) or abs(value) > 1e30:
            return f"config.json: {name} is not a number that can be computed with"
        if name == "rope_theta" and not value > 0:
            return "config.json: rope_theta is not above 0"
    return None


def _numbers(config: dict[str, Any], depth: int = 3) -> Iterator[tuple[str, float]]:
    """Every number of a configuration, and of the tables in it."""
    for name, value in config.items():
        if isinstance(value, dict) and depth:
            yield from _numbers(value, depth - 1)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, value


def find_tokenizer_problem(tokenizer: Any) -> str | None:
    """Return the reason why a loaded tokenizer cannot be used, in a few words; None if it can."""
    if not len(tokenizer):
        return "tokenizer.json: it knows no token"
    if not isinstance(tokenizer.model_max_length, int | float) or not tokenizer.model_max_length >= 1:
        return "tokenizer_config.json: model_max_length is not a number from 1 on"
    return None


def find_non_finite(model: Any) -> str | None:
    """Name the first parameter with NaN or infinite values, in a few words; None if there is none."""
    for name, weights in model.named_parameters():
        # What is no number is the least and the largest of all: ten times as fast as to ask each.
        if weights.numel() and not all(bool(end.isfinite()) for end in weights.aminmax()):
            return f"{name} holds values that are not numbers"
    return None


def check_ids(name: str, ids: Sequence[int], rows: int) -> None:
    """Refuse tokens that a model has no vector for.

    Raises:
        ModelError: "token".
    """
    if wrong := [i for i in ids if not 0 <= i < rows]:
        raise ModelError("token", model=name, number=max(wrong), rows=rows)


def check_tokens(model: LoadedModel, tokens: Tokens) -> None:
    """Refuse a text with a token that the model has no vector for.

    Raises:
        ModelError: "token".
    """
    check_ids(model.entry.id, tokens.ids, model.model.get_input_embeddings().num_embeddings)


def check_finite(model: LoadedModel, states: Mapping[str, Sequence[Tensor]]) -> None:
    """Refuse what a model made of a text if it is no number: in any layer, since what is NaN once stays so.

    Raises:
        ModelError: "infinite".
    """
    if not all(bool(stack[-1].isfinite().all()) for stack in states.values()):
        raise ModelError("infinite", model=model.entry.id)
