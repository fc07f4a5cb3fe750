"""See q, k and v of every layer while a model runs, and replay any layer through our own ``attend``.

The model's attention *is* :func:`viz.core.attention.attend`: transformers hands every layer's q, k, v to the function
registered here, before K and V are repeated for shared heads, so GQA and MQA are seen as they are.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from viz.cancellation import check
from viz.core.analysis.lens import chances
from viz.core.attention import AttentionTrace, attend
from viz.core.heads import HeadWeights, MultiHeadTrace, merge_heads, multi_head, share_kv
from viz.core.masks import combine
from viz.errors import ModelError
from viz.models.attention_interface import Edit, Recorder, recording, silence, unbatched, unscaled
from viz.models.checks import check_finite, check_tokens
from viz.models.layers.gates import read_gate
from viz.models.layers.latent import Latent, read_latent, read_memory
from viz.models.layers.positions import value_eps
from viz.models.layers.projections import read_weights
from viz.models.layers.states import maps_fields, states_of
from viz.models.layout import Layer, LoadedModel
from viz.models.tokens import Prediction, Tokens, guesses, read_text, shift

Head = tuple[int, int]
"""(layer, head), 0-based."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One attention layer at work on one text: what went in, and everything needed to do it again.

    ``q`` (H, Q, d_k), ``k`` (G, K, d_k) and ``v`` (G, K, d_v) as attention sees them: turned by position where
    ``rotation``, not yet repeated. ``x`` (Q, d_model) and ``memory`` (K, d_mem) are what W_Q and W_K are applied to.
    ``rotation``: "" (they are not), "whole", "part" of each head's width, "normed" before it, "turned_normed" after it,
    or "only_normed" and not turned. ``options`` are those of :func:`~viz.core.attention.attend`. ``gate`` (H, Q, d_v or
    1) multiplies what each head gives, before W_O. ``latent``: ``memory`` is short vectors, ``x`` may be too.
    ``value_eps``: values are divided by their root mean square after the projection, with this epsilon. ``source`` is
    the number of the layer that ``memory`` and W_K and W_V belong to, where this layer reads another's keys and values.
    ``maps_only``: a layer that hands out its weights alone: q are their logarithms, k picks them, the rest is 0.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    options: Mapping[str, Any]
    x: Tensor
    memory: Tensor
    projections: HeadWeights
    rotation: str = ""
    gate: Tensor | None = None
    latent: Latent | None = None
    value_eps: float | None = None
    source: int | None = None
    maps_only: bool = False

    @property
    def has_own_values(self) -> bool:
        """True if v is what the layer's W_V makes of its own tokens."""
        return self.value_eps is None and self.source is None

    @property
    def rotary(self) -> bool:
        """True if q and k are turned by their position (RoPE) after the projection."""
        return self.rotation not in ("", "only_normed")

    @property
    def is_changed(self) -> bool:
        """True if q and k are not what the projection makes: turned, normed, or both."""
        return bool(self.rotation)


@dataclass(frozen=True, kw_only=True)
class Capture:
    """A text seen by a stack of attention layers, a real model's or seeded ones. Layers and heads count from 0.

    ``stacks`` has the layers of "encoder", "decoder" and "cross", as far as there are any; ``final`` (T, d_model) is
    what the first stack hands on; ``target`` is what the decoder of an encoder-decoder read. ``states`` are a model's
    own hidden states, each (T, d_model), for "encoder" and "decoder": what goes into the first layer, then what each
    layer hands on, the last one behind the model's final norm if it has one. ``numbers`` are the model's own numbers of
    the first stack's layers, none where these are counted from 0 without a gap.
    """

    tokens: Tokens
    stacks: Mapping[str, tuple[Call, ...]]
    final: Tensor
    target: Tokens | None = None
    predictions: tuple[Prediction, ...] = ()
    numbers: tuple[int, ...] = ()
    states: Mapping[str, tuple[Tensor, ...]] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The layers of the first stack: the encoder's, or a decoder-only model's."""
        return next(iter(self.stacks.values()))

    def number(self, i: int) -> int:
        """Return the model's own number of layer i of the first stack."""
        return self.numbers[i] if self.numbers else i

    @property
    def is_cross(self) -> bool:
        """True if the first stack is cross-attention: the target has the queries, the text the keys."""
        return next(iter(self.stacks)) == "cross"

    @property
    def queries(self) -> Tokens:
        """The tokens that ask in the first stack: the target's or the text's own; ``tokens`` always answer."""
        return self.target if self.target is not None and self.is_cross else self.tokens

    @property
    def n_layers(self) -> int:
        """Attention layers of the first stack."""
        return len(self.calls)

    @property
    def n_heads(self) -> int:
        """Query heads of a layer."""
        return self.calls[0].q.shape[0]

    def _call(self, i: int, stack: str | None, allowed: Tensor | None) -> Call:
        check()
        call = (self.calls if stack is None else self.stacks[stack])[i]
        if allowed is None:
            return call
        return replace(call, options={**call.options, "allowed": combine(call.options.get("allowed"), allowed)})

    def layer(self, i: int, *, stack: str | None = None, allowed: Tensor | None = None) -> AttentionTrace:
        """Every step of attention in layer i, (H, Q, ...), with ``k`` and ``v`` as the model keeps them (G, K, ...).

        The stack is "encoder", "decoder" or "cross"; None is the first it has. ``allowed`` is a mask beside its own.
        """
        c = self._call(i, stack, allowed)
        n_heads = c.q.shape[0]
        return replace(attend(c.q, share_kv(c.k, n_heads), share_kv(c.v, n_heads), **c.options), k=c.k, v=c.v)

    def multi_head(self, i: int, *, stack: str | None = None, allowed: Tensor | None = None) -> MultiHeadTrace:
        """As :meth:`layer`, with what goes in and what W_O makes of it."""
        c = self._call(i, stack, allowed)
        return merge_heads(c.q, c.k, c.v, c.projections, x=c.x, memory=c.memory, gate=c.gate, **c.options)


def _call(layer: Layer, recorder: Recorder) -> Call:
    record = recorder.seen[id(layer.attention)]
    x = recorder.inputs[id(layer.projections[0])]
    memory = recorder.inputs[id(layer.projections[min(1, len(layer.projections) - 1)])]
    latent = read_latent(layer) if layer.layout.latent else None
    if latent is not None:
        memory = read_memory(layer, latent, memory, recorder.latents)
    q, k, v = record["q"], record["k"], record["v"]
    options, projections = unbatched(record["options"]), read_weights(layer, q, k, v, x, memory)
    changes = layer.changes(has_positions=id(layer.attention) not in recorder.unplaced)
    if layer.layout.scaled:
        q, options["scale"] = unscaled(q)
    gate_output = recorder.gates.get(id(layer.attention))
    return Call(
        q=q, k=k, v=v, x=x, memory=memory, options=options, rotation=changes, projections=projections,
        gate=None if gate_output is None else read_gate(layer, gate_output, len(q)),
        latent=latent,
        value_eps=value_eps(layer) if layer.layout.value_norm else None,
        source=None if layer.source is None else layer.source.index,
    )  # fmt: skip


def calls_of(layers: Sequence[Layer], recorder: Recorder) -> dict[str, tuple[Call, ...]]:
    """Calls of these layers in a recorder, by stack."""
    at_work = [layer for layer in layers if id(layer.attention) in recorder.seen]
    names = dict.fromkeys(layer.layout.stack for layer in at_work)
    return {name: tuple(_call(layer, recorder) for layer in at_work if layer.layout.stack == name) for name in names}


def _predict(model: LoadedModel, ids: tuple[int, ...], logits: Tensor, n: int = 8) -> Iterator[Prediction]:
    """The head's best guesses: for what follows the last token, or for each mask token of a masked model."""
    if model.layers[0].layout.stack == "decoder":
        places = [len(ids) - 1]
    else:
        places = [i for i, token in enumerate(ids) if token == model.tokenizer.mask_token_id]
    for at in places[:8]:
        best = chances(logits[at - len(ids)]).topk(min(n, logits.shape[-1]))
        candidate_labels = guesses(model.tokenizer, best.indices.tolist())
        yield Prediction(at=at, labels=candidate_labels, probabilities=tuple(best.values.tolist()))


def inputs_of(model: LoadedModel, tokens: Tokens, target: Tokens | None, vectors: Tensor | None) -> dict[str, Any]:
    """Inputs of one pass: the tokens, or vectors in place of their embeddings, and what a decoder behind them reads."""
    name, read = ("input_ids", torch.tensor(tokens.ids)) if vectors is None else ("inputs_embeds", vectors)
    inputs: dict[str, Any] = {name: read[None]}
    if target is not None:
        inputs["decoder_input_ids"] = torch.tensor([target.ids])
    elif model.layers[0].layout.stack == "decoder":
        inputs["use_cache"] = False
        if "logits_to_keep" in inspect.signature(model.model.forward).parameters:
            # One row of the vocabulary is computed instead of one for each token.
            inputs["logits_to_keep"] = 1
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

    The model is not changed, and several threads may capture at once. ``target`` is what the decoder of an
    encoder-decoder writes; None means the text again. The capture's ``target`` is what it reads meanwhile, one place
    later. ``max_tokens`` counts special tokens, too; None is the model's own limit. Heads that are off give zero, those
    of the first stack.

    Raises:
        ModelError: if the text has no token, or what the model does with it cannot be shown exactly.
    """
    limit = min(max_tokens or model.max_tokens, model.max_tokens)
    tokens = read_text(model.tokenizer, text, limit)
    target_tokens = None if target is None else read_text(model.tokenizer, target, limit)
    return capture_tokens(model, tokens, target=target_tokens, heads_off=heads_off)


def capture_tokens(
    model: LoadedModel,
    tokens: Tokens,
    *,
    target: Tokens | None = None,
    heads_off: frozenset[Head] = frozenset(),
    vectors: Tensor | None = None,
    edits: Mapping[int, Edit] | None = None,
) -> Capture:
    """As :func:`capture`, on a text that has been cut already.

    ``vectors`` (T, d_model) are read in place of the tokens' own embeddings; the model still adds its positions to
    them. ``edits`` are other changes of heads, by the number of the layer.
    """
    check_tokens(model, tokens)
    config = model.model.config
    shifted = shift(model.tokenizer, config, target or tokens) if config.is_encoder_decoder else None
    off = {index: silence([head for at, head in heads_off if at == index]) for index, _ in heads_off}
    by_module = {id(model.layers[index].attention): edit for index, edit in {**off, **(edits or {})}.items()}
    layout = model.layers[0].layout
    if layout.maps_only and (heads_off or vectors is not None):
        raise ModelError("maps", model=model.entry.id)
    inputs = inputs_of(model, tokens, shifted, vectors) | ({"output_attentions": True} if layout.maps_only else {})
    with torch.inference_mode(), recording(by_module) as recorder:
        try:
            result = model.model(**inputs, output_hidden_states=True, return_dict=True)
        # CLIP and OWL-ViT ask for tokens, though vectors stand in their place.
        except (AttributeError, TypeError, ValueError) as error:
            raise error if vectors is None else ModelError("no_vectors", model=model.entry.id) from error
        if layout.maps_only:
            calls = {layout.stack: tuple(Call(**maps_fields(maps[0], model.width)) for maps in result.attentions)}
        else:
            calls = calls_of(model.layers, recorder)
        states = states_of(result, model)
        logits = None if shifted else getattr(result, "logits", None)
        predictions = () if logits is None else tuple(_predict(model, tokens.ids, logits[0]))
    final, numbers = next(iter(states.values()))[-1], model.numbers
    check_finite(model, states)
    return Capture(
        tokens=tokens, target=shifted, final=final, predictions=predictions, states=states, stacks=calls,
        numbers=() if numbers == tuple(range(len(numbers))) else numbers,
    )  # fmt: skip


def seeded(tokens: Tokens, x: Tensor, weights: HeadWeights, heads_off: frozenset[Head] = frozenset()) -> Capture:
    """Return a capture of one layer of seeded heads on any vectors (T, d_model); pages cannot tell it from a model's.

    The contributions of ``heads_off`` are left out of ``final``; the layer is 0.
    """
    with torch.inference_mode():
        trace = multi_head(x, x, weights)
        final = trace.output - trace.contributions[[head for _, head in heads_off]].sum(0)
    call = Call(q=trace.q, k=trace.k, v=trace.v, options={}, x=x, memory=x, projections=weights)
    return Capture(tokens=tokens, stacks={"seeded": (call,)}, final=final)
