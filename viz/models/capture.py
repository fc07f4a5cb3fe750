"""See q, k and v of every layer while a model runs, and replay any layer through our own ``attend``.

The model's attention *is* :func:`viz.core.attention.attend`: transformers hands every layer's q, k, v to the function
registered here, before K and V are repeated for shared heads, so GQA and MQA are seen as they are.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from viz.core.attention import AttentionTrace, attend
from viz.core.heads import HeadWeights, MultiHeadTrace, merge_heads, multi_head, share_kv
from viz.core.masks import combine
from viz.core.spec import AttentionSpec
from viz.models.layout import Layer, LoadedModel, linear
from viz.models.registry import ModelError
from viz.models.tokens import Tokens, labels, read_text

INTERFACE = "headlight"
Head = tuple[int, int]
"""(layer, head), 0-based."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One attention layer at work on one text: what went in, and everything needed to do it again."""

    q: Tensor
    k: Tensor
    v: Tensor
    options: Mapping[str, Any]
    x: Tensor
    memory: Tensor
    projections: HeadWeights
    rotary: bool = False


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a language-model head expects at one place: token labels and their probabilities, best first."""

    at: int
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Capture:
    """A text seen by a stack of attention layers, a real model's or seeded ones. Layers and heads count from 0."""

    tokens: Tokens
    stacks: Mapping[str, tuple[Call, ...]]
    final: Tensor
    target: Tokens | None = None
    predictions: tuple[Prediction, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The layers of the first stack: the encoder's, or a decoder-only model's."""
        return next(iter(self.stacks.values()))

    @property
    def n_layers(self) -> int:
        """Attention layers of the first stack."""
        return len(self.calls)

    @property
    def n_heads(self) -> int:
        """Query heads of a layer."""
        return self.calls[0].q.shape[0]

    @property
    def n_kv_heads(self) -> int:
        """Key/value heads of a layer."""
        return self.calls[0].k.shape[0]

    def _call(self, i: int, stack: str | None, allowed: Tensor | None) -> Call:
        call = (self.calls if stack is None else self.stacks[stack])[i]
        return replace(call, options={**call.options, "allowed": combine(call.options.get("allowed"), allowed)})

    def layer(self, i: int, *, stack: str | None = None, allowed: Tensor | None = None) -> AttentionTrace:
        """Every step of attention in layer i, (H, Q, ...), with ``k`` and ``v`` as the model keeps them (G, K, ...).

        Args:
            i: the layer.
            stack: "encoder", "decoder" or "cross"; None is the first the model has.
            allowed: a further mask on this layer, beside the model's own.
        """
        c = self._call(i, stack, allowed)
        n_heads = c.q.shape[0]
        return replace(attend(c.q, share_kv(c.k, n_heads), share_kv(c.v, n_heads), **c.options), k=c.k, v=c.v)

    def multi_head(self, i: int, *, stack: str | None = None, allowed: Tensor | None = None) -> MultiHeadTrace:
        """As :meth:`layer`, with what goes in and what W_O makes of it."""
        c = self._call(i, stack, allowed)
        return merge_heads(c.q, c.k, c.v, c.projections, x=c.x, memory=c.memory, **c.options)


@dataclass
class Recorder:
    """What one forward pass leaves behind; each pass has its own, also when visitors share the model."""

    heads_off: frozenset[Head] = frozenset()
    seen: dict[int, dict[str, Any]] = field(default_factory=dict)
    inputs: dict[int, Tensor] = field(default_factory=dict)


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def _recording(heads_off: frozenset[Head]) -> Iterator[Recorder]:
    recorder = Recorder(heads_off)
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)


def soft_cap(cap: float) -> Callable[[Tensor], Tensor]:
    r"""Gemma 2's limit on the scores, :math:`c \tanh(s / c)`."""
    return lambda scaled: torch.tanh(scaled / cap) * cap


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    position_bias: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """What transformers calls in every layer (its ``AttentionInterface``): attend, and note what was seen."""
    if others.get("s_aux") is not None:
        raise ModelError("attention", model=type(module).__name__, option="s_aux")
    allowed, bias = attention_mask, position_bias
    if attention_mask is not None and attention_mask.is_floating_point():
        allowed, bias = None, attention_mask if bias is None else bias + attention_mask
    options: dict[str, Any] = {"allowed": allowed, "bias": bias, "scale": scaling or 1 / math.sqrt(query.shape[-1])}
    if softcap is not None:
        options["score_mod"] = soft_cap(softcap)
    n_heads = query.shape[1]
    trace = attend(query, share_kv(key, n_heads), share_kv(value, n_heads), **options)
    output = trace.output.transpose(1, 2)
    if (recorder := _recorder.get()) is not None:
        recorder.seen[id(module)] = {"q": query[0], "k": key[0], "v": value[0], "options": options}
        index = getattr(module, "layer_idx", None)
        off = [head for layer, head in recorder.heads_off if layer == index]
        output = output.index_fill(2, torch.tensor(off), 0.0) if off else output
    return output.contiguous(), trace.weights


@cache
def install() -> None:
    """Register our attention with transformers, with masks that say True for "may look"."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    def mask(*args: Any, **kwargs: Any) -> Tensor | None:
        # A causal mask must arrive as a mask: the short cut (None and a flag) would be for SDPA only.
        return sdpa_mask(*args, **kwargs | {"allow_is_causal_skip": False})

    AttentionInterface.register(INTERFACE, _attention)
    AttentionMaskInterface.register(INTERFACE, mask)


def watch(layers: tuple[Layer, ...]) -> None:
    """Note what goes into W_Q and W_K: the tokens that ask and the tokens that answer.

    Set once, when the model is loaded, and for good: the hooks write to the recorder of the pass they run in and
    to nothing shared, so visitors who run the model at the same time do not meet.
    """

    def note(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        if (recorder := _recorder.get()) is not None:
            recorder.inputs[id(module)] = args[0][0]

    for layer in layers:
        for projection in layer.projections[:2]:
            projection.register_forward_pre_hook(note)


def _read_weights(layer: Layer, q: Tensor, k: Tensor, v: Tensor, x: Tensor, memory: Tensor) -> HeadWeights:
    """A layer's own W_Q, W_K, W_V, W_O as views: nothing is copied."""
    (H, _, d_k), (G, _, _), d_v = q.shape, k.shape, v.shape[-1]
    pairs = [linear(projection) for projection in layer.projections]
    if len(pairs) == 1:
        (w, b), sizes = pairs[0], [H * d_k, G * d_k, G * d_v]
        pairs = list(zip(w.split(sizes, dim=1), b.split(sizes) if b is not None else [None] * 3, strict=True))
    w_o, b_o = linear(layer.output)
    spec = AttentionSpec(
        d_model=x.shape[-1], n_heads=H, n_kv_heads=G, d_head=d_k, d_value=d_v,
        d_memory=memory.shape[-1], d_output=w_o.shape[1],
    )  # fmt: skip
    (w_q, b_q), (w_k, b_k), (w_v, b_v) = pairs
    return HeadWeights(spec=spec, w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o, b_q=b_q, b_k=b_k, b_v=b_v, b_o=b_o)


def _unbatch(options: dict[str, Any]) -> dict[str, Any]:
    """Drop the batch axis; an (H, Q, K) mask that is the same for every head becomes (Q, K)."""

    def first(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        value = value[0]
        return value[0] if value.shape[0] == 1 else value

    return {name: first(value) for name, value in options.items()}


def _call(layer: Layer, recorder: Recorder) -> Call:
    seen = recorder.seen[id(layer.attention)]
    x = recorder.inputs[id(layer.projections[0])]
    memory = recorder.inputs[id(layer.projections[min(1, len(layer.projections) - 1)])]
    q, k, v = seen["q"], seen["k"], seen["v"]
    return Call(
        q=q, k=k, v=v, x=x, memory=memory, options=_unbatch(seen["options"]), rotary=layer.layout.rotary,
        projections=_read_weights(layer, q, k, v, x, memory),
    )  # fmt: skip


def _predict(model: LoadedModel, ids: tuple[int, ...], logits: Tensor, n: int = 8) -> Iterator[Prediction]:
    """The head's best guesses: for what follows the last token, or for each mask token of a masked model."""
    mask_id = model.tokenizer.mask_token_id
    places = [len(ids) - 1] if mask_id is None else [i for i, token in enumerate(ids) if token == mask_id]
    for at in places[:8]:
        best = logits[at - len(ids)].softmax(-1).topk(min(n, logits.shape[-1]))
        shown = labels(model.tokenizer, best.indices.tolist())
        yield Prediction(at=at, labels=shown, probabilities=tuple(best.values.tolist()))


def _inputs(model: LoadedModel, tokens: Tokens, target: Tokens | None) -> dict[str, Any]:
    inputs: dict[str, Any] = {"input_ids": torch.tensor([tokens.ids])}
    config = model.model.config
    if config.is_encoder_decoder:
        # The decoder reads its own output shifted by one place, as in training.
        start = config.decoder_start_token_id or 0
        inputs["decoder_input_ids"] = torch.tensor([[start, *(target or tokens).ids[:-1]]])
    elif config.is_decoder or model.layers[0].layout.stack == "decoder":
        inputs["use_cache"] = False
        if "logits_to_keep" in inspect.signature(model.model.forward).parameters:
            inputs["logits_to_keep"] = 1  # one row of the vocabulary instead of one for each token
    return inputs


def capture(
    model: LoadedModel,
    text: str,
    *,
    target: str | None = None,
    max_tokens: int | None = None,
    heads_off: frozenset[Head] = frozenset(),
) -> Capture:
    """Run a model on a text and keep what every attention layer saw.

    Args:
        model: a loaded model; it is not changed, and several threads may capture at once.
        text: what the encoder, or a decoder-only model, reads.
        target: what the decoder of an encoder-decoder reads; None means the text again.
        max_tokens: the longest text, special tokens included; None is the model's own limit.
        heads_off: heads whose output is replaced by zero in this pass.

    Raises:
        ModelError: if the text has no token, or the model's attention cannot be reproduced exactly.
    """
    limit = min(max_tokens or model.max_tokens, model.max_tokens)
    tokens = read_text(model.tokenizer, text, limit)
    target_tokens = None if target is None else read_text(model.tokenizer, target, limit)
    with torch.inference_mode(), _recording(heads_off) as recorder:
        result = model.model(**_inputs(model, tokens, target_tokens), output_hidden_states=True, return_dict=True)
        stacks: dict[str, list[Call]] = {}
        for layer in model.layers:
            if id(layer.attention) in recorder.seen:
                stacks.setdefault(layer.layout.stack, []).append(_call(layer, recorder))
        states = getattr(result, "hidden_states", None) or result.encoder_hidden_states
        logits = getattr(result, "logits", None)
        predictions = () if logits is None or model.model.config.is_encoder_decoder else tuple(
            _predict(model, tokens.ids, logits[0])
        )  # fmt: skip
    return Capture(
        tokens=tokens, target=target_tokens, final=states[-1][0], predictions=predictions,
        stacks={name: tuple(calls) for name, calls in stacks.items()},
    )  # fmt: skip


def seeded(tokens: Tokens, x: Tensor, weights: HeadWeights) -> Capture:
    """One layer of seeded heads on any vectors, as a capture: pages cannot tell it from a model's layer."""
    with torch.inference_mode():
        trace = multi_head(x, x, weights)
    call = Call(q=trace.q, k=trace.k, v=trace.v, options={}, x=x, memory=x, projections=weights)
    return Capture(tokens=tokens, stacks={"seeded": (call,)}, final=trace.output)
