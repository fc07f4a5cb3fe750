"""A model, or seeded heads, with other positions than its own: none, a formula's, or its own after a shuffle."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn

import torch
from torch import Tensor

from viz.models.attention_interface import recording
from viz.models.capture import Capture, calls_of, capture_tokens, inputs_of
from viz.models.layout import LoadedModel
from viz.models.tokens import Tokens, shift


def reorder(tokens: Tokens, order: Sequence[int]) -> Tokens:
    """The same tokens in another order, each a word of its own."""
    return replace(
        tokens,
        ids=tuple(tokens.ids[i] for i in order),
        labels=tuple(tokens.labels[i] for i in order),
        special=tuple(tokens.special[i] for i in order),
        words=tuple(range(len(order))),
        spans=(),
    )


def first(tokens: Tokens, n: int) -> Tokens:
    """The first n tokens; what is left out is counted as dropped."""
    cut = reorder(tokens, range(min(n, len(tokens.ids))))
    n_dropped = tokens.n_excess + max(0, len(tokens.ids) - n)
    return replace(cut, words=tokens.words[:n], spans=tokens.spans[:n], n_excess=n_dropped)


def capture_placed(model: LoadedModel, tokens: Tokens, table: Tensor, *, only_first: bool = False) -> Capture:
    """Run a model with another table of positions, (T, d_model); zeros take positions away.

    With ``only_first`` the pass ends when the first layer has attended; ``final`` is then what that layer read.

    The model goes on adding its own table to what it is given, so it is given the difference. Models with positions of
    another kind (RoPE, T5's biases) have no table and keep what they have.
    """
    vectors = model.embeddings(list(tokens.ids))
    with torch.inference_mode():
        if (rows := model.positions()) is not None:
            vectors = vectors - rows[: len(vectors)]
        vectors = vectors + table
    if not only_first:
        return capture_tokens(model, tokens, vectors=vectors)
    config = model.model.config
    target = shift(model.tokenizer, config, tokens) if config.is_encoder_decoder else None
    with torch.inference_mode(), recording({id(model.layers[0].attention): _end}) as recorder:
        with suppress(_End):
            model.model(**inputs_of(model, tokens, target, vectors), return_dict=True)
        calls = calls_of(model.layers, recorder)
    return Capture(tokens=tokens, stacks=calls, final=next(iter(calls.values()))[0].x)


class _End(Exception):  # noqa: N818 -- no error
    """The end of a pass of which no more is read."""


def _end(_: Tensor) -> NoReturn:
    raise _End


def row_length(vectors: Tensor, rows: Tensor | None) -> float:
    r"""Suitable norm of a row of positions beside these tokens.

    As long as the model's own rows are on average; without those, :math:`1/\sqrt2` of a token's length, as the
    sinusoids' rows are beside tokens of independent N(0, 1) numbers.
    """
    return float(rows.norm(dim=-1).mean()) if rows is not None else float(vectors.norm(dim=-1).mean()) / 2**0.5
