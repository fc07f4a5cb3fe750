"""A decoder's residual stream on one text: what each part writes, and the model's own way from it to words."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from viz.cancellation import check
from viz.core.analysis.attribution import StreamParts
from viz.core.norm import NormWeights
from viz.errors import ModelError
from viz.models.attention_interface import Edit, recording, watch_stream
from viz.models.blocks import BlockLayout, find_block_layout
from viz.models.layers.positions import norm_weights
from viz.models.layout import LoadedModel, linear
from viz.models.tokens import Tokens, word_token


def has_words(model: LoadedModel) -> bool:
    """Return whether a model is a decoder with a vocabulary head, which predicts the next token."""
    return model.layers[0].layout.stack == "decoder" and model.model.get_output_embeddings() is not None


def blocks_of(model: LoadedModel) -> tuple[nn.Module, ...]:
    """A decoder's blocks.

    Raises:
        ModelError: "block", if the family's blocks are not known.
    """
    layout, base = _layout(model), model.model.base_model
    return tuple(base.get_submodule(layout.layer.format(i=layer.index)) for layer in model.layers)


def _layout(model: LoadedModel) -> BlockLayout:
    return find_block_layout(model, "decoder", of_stream=True)


def watch_model(model: LoadedModel) -> None:
    """Record a decoder's blocks, now and in every later pass (:func:`~viz.models.attention_interface.watch_stream`).

    A model whose blocks are not known, or that has no words, is left as it is.
    """
    if not has_words(model):
        return
    try:
        layout, blocks = _layout(model), blocks_of(model)
    except ModelError:
        return
    watch_stream([(block, _last_of_feed_forward(block, layout)) for block in blocks])


def _last_of_feed_forward(block: nn.Module, layout: BlockLayout) -> nn.Module:
    """The module whose output is added to the stream."""
    return block.get_submodule(layout.feed_forward_out_norm or layout.network or layout.w_out)


def out_scale(block: nn.Module, layout: BlockLayout) -> float:
    """Return what a block multiplies its parts' outputs by before they are added (Granite)."""
    return float(getattr(block, layout.out_scale)) if layout.out_scale else 1.0


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Tensors of a decoder's pass over a text.

    ``states`` (L + 1, T, d_model): the stream in front of each block, and behind the last one. ``heads``
    (L, T, H, d_v): what each head hands to W_O. ``feed_forward`` (L, T, d_model): what each feed-forward network adds.
    ``calls``: what else each block is called with, its mask and positions, to run it again on another stream.
    """

    tokens: Tokens
    states: Tensor
    heads: Tensor
    feed_forward: Tensor
    calls: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...]


def _by_module(model: LoadedModel, edits: Mapping[int, Edit] | None) -> dict[int, Edit]:
    """Edits by the module they are for, as the recorder wants them."""
    return {id(model.layers[layer].attention): edit for layer, edit in (edits or {}).items()}


def logits_of(model: LoadedModel, ids: tuple[int, ...], edits: Mapping[int, Edit] | None = None) -> Tensor:
    """Logits after each token, (T, V), of a decoder as it is, or with the heads of some layers changed."""
    with torch.inference_mode(), recording(_by_module(model, edits)):
        logits: Tensor = model.model(input_ids=torch.tensor([ids]), use_cache=False, return_dict=True).logits[0]
    return logits


def read_stream(model: LoadedModel, tokens: Tokens, edits: Mapping[int, Edit] | None = None) -> Reading:
    """Run a decoder on a text, with some layers' heads changed or none, and keep its residual stream.

    Raises:
        ModelError: "block", if the family's blocks are not known.
    """
    layout, blocks = _layout(model), blocks_of(model)
    with torch.inference_mode(), recording(_by_module(model, edits), stream=True) as recorder:
        model.model.base_model(input_ids=torch.tensor([tokens.ids]), use_cache=False, return_dict=True)
        calls = [recorder.calls[id(block)] for block in blocks]
        first = calls[0][0][0][0]
        return Reading(
            tokens=tokens,
            states=torch.stack([first, *(recorder.outputs[id(block)] for block in blocks)]),
            heads=torch.stack([recorder.seen[id(layer.attention)]["output"] for layer in model.layers]),
            feed_forward=torch.stack(
                [
                    out_scale(block, layout) * recorder.outputs[id(_last_of_feed_forward(block, layout))]
                    for block in blocks
                ]
            ),
            calls=tuple((args[1:], options) for args, options in calls),
        )


def normalize(model: LoadedModel, stream: Tensor) -> Tensor:
    """The model's own final norm, on a stream (T, d_model)."""
    with torch.inference_mode():
        normed: Tensor = model.model.base_model.get_submodule(_layout(model).final_norm)(stream[None])[0]
    return normed


class _FinalState(nn.Module):
    """In place of a model without its head: hands on a final state (1, T, d_model), and nothing else."""

    def __init__(self, state: Tensor) -> None:
        super().__init__()
        self.last_hidden_state = state

    def forward(self, *_: Any, **__: Any) -> "_FinalState":
        return self

    def __getitem__(self, at: int) -> Tensor:
        return (self.last_hidden_state,)[at]

    def __getattr__(self, name: str) -> Any:
        # OPT calls its decoder directly. Of what else a model may hand on, a cache or routers' numbers, there is none.
        return self if name == "decoder" else None


def unembed(model: LoadedModel, normed: Tensor) -> Tensor:
    """The model's own way from what its final norm made of the stream to logits, (T, V).

    The model's own code is run, since a family may have more there than a matrix: a scale (Cohere), a cap (Gemma 2), a
    layer of its own (ModernBERT). The model itself stays as it is.
    """
    check()
    full_model = model.model
    shared = {id(part): part for part in (full_model.config, *full_model.children())}
    head = deepcopy(full_model, shared | {id(full_model.base_model): _FinalState(normed[None])})
    with torch.inference_mode():
        places = torch.zeros(1, len(normed), dtype=torch.long)
        logits: Tensor = head(input_ids=places, use_cache=False, return_dict=True).logits[0]
    return logits


def logit_cap(model: LoadedModel) -> float:
    r"""c, if the model presses its logits together, :math:`c \tanh(z / c)` (Gemma 2); 0 if it does not."""
    return getattr(model.model.config, "final_logit_softcapping", None) or 0.0


def logit_scale(model: LoadedModel) -> float:
    """Return what a model multiplies its logits by (Cohere, Granite); 1 if it does not."""
    config = model.model.config
    divisor = getattr(config, "logits_scaling", None)
    return 1.0 / divisor if divisor else float(getattr(config, "logit_scale", None) or 1.0)


def uncapped(model: LoadedModel, logits: Tensor) -> Tensor:
    """The logits before the cap, in float64: these are sums over what was written, the model's own are not."""
    cap = logit_cap(model)
    return cap * torch.atanh(logits.double() / cap) if cap else logits.double()


def final_norm(model: LoadedModel) -> tuple[NormWeights, bool]:
    """Weights of the final norm, and whether it subtracts the mean (layer norm)."""
    layout = _layout(model)
    weights = norm_weights(model.model.base_model.get_submodule(layout.final_norm))
    return weights, layout.normalize == "layer_norm"


def column(model: LoadedModel, word: int) -> tuple[Tensor, float]:
    """The column of W_U for a word, (d_model,), and its bias.

    Raises:
        ModelError: "unwritable", if there is none.
    """
    check_writable(model, (word,))
    (w_u, b_u), scale = linear(model.model.get_output_embeddings()), logit_scale(model)
    return w_u[:, word] * scale, 0.0 if b_u is None else float(b_u[word]) * scale


def check_writable(model: LoadedModel, tokens: Sequence[int]) -> None:
    """Refuse tokens that a model reads and cannot write: Apertus 1.5 may be published with a shorter head.

    Raises:
        ModelError: "unwritable".
    """
    rows = _n_writable(model)
    if wrong := [token for token in tokens if token >= rows]:
        raise ModelError("unwritable", model=model.entry.id, number=wrong[0], rows=rows)


def writable_token(model: LoadedModel, word: str) -> int | None:
    """Return the token that a word begins with; None if there is none, or the model cannot write it."""
    token = word_token(model.tokenizer, word)
    return token if token is not None and token < _n_writable(model) else None


def _n_writable(model: LoadedModel) -> int:
    return linear(model.model.get_output_embeddings())[0].shape[1]


def through_w_o(model: LoadedModel, layer: int, heads: Tensor) -> Tensor:
    """Apply W_O, and the norm behind it if any, to a layer's heads (T, H, d_v): its update of the stream."""
    norm = _layout(model).attention_out_norm
    w_o, b_o = _w_o(model, layer, heads.shape[1])
    with torch.inference_mode():
        output = torch.einsum("thv,hvd->td", heads, w_o) + b_o
        return blocks_of(model)[layer].get_submodule(norm)(output[None])[0] if norm else output


def _w_o(model: LoadedModel, layer: int, n_heads: int) -> tuple[Tensor, Tensor]:
    """A layer's W_O, (H, d_v, d_model), and its bias, zero where there is none, as far as the block adds them."""
    (w_o, b_o), scale = linear(model.layers[layer].output), out_scale(blocks_of(model)[layer], _layout(model))
    bias = w_o.new_zeros(w_o.shape[1]) if b_o is None else b_o
    w_o = w_o.unflatten(0, (n_heads, -1))
    return (w_o, bias) if scale == 1 else (w_o * scale, bias * scale)


def split_stream(model: LoadedModel, reading: Reading, at: int) -> StreamParts:
    """Everything that was added to the stream of the token at this place.

    Where a norm stands behind attention (Gemma 2), its scale is held at what it is here, as the final norm's is.
    """
    layout = _layout(model)
    w_o, b_o = zip(*(_w_o(model, i, reading.heads.shape[2]) for i in range(len(model.layers))), strict=True)
    parts = StreamParts(
        embedding=reading.states[0, at],
        heads=reading.heads[:, at],
        w_o=w_o,
        biases=torch.stack(b_o),
        feed_forward=reading.feed_forward[:, at],
    )
    if not layout.attention_out_norm:
        return parts
    scales = []
    for block, head_sum in zip(blocks_of(model), parts.attention, strict=True):
        norm = norm_weights(block.get_submodule(layout.attention_out_norm))
        scales.append(norm.gain / (head_sum.square().mean() + norm.eps).sqrt())
    return replace(
        parts,
        w_o=tuple(matrix * scale for matrix, scale in zip(w_o, scales, strict=True)),
        biases=parts.biases * torch.stack(scales),
    )
