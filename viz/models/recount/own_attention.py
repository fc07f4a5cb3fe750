"""One layer of a model once more: its own module, with the attention and the mask that transformers wrote for it."""

import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from inspect import ismethod
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary, WeakMethod

import torch
from torch import Tensor, nn

from viz.core.heads import share_kv
from viz.models.attention_interface import mask_of_chosen, register_eager
from viz.models.capture import Capture
from viz.models.layers.find import find_layers
from viz.models.layers.gates import gate_module, read_gate
from viz.models.layout import Layer, LoadedModel

EAGER_NAME = "headlight_as_written"
"""The attention of a model's own module under our name, so that its weights can be kept."""


class _LayerReachedError(Exception):
    """The layer that was asked for has attended: what comes after it is not needed."""


@dataclass
class _Pass:
    """A pass that ends in one layer, which reads ``state`` (T, d_model); those between it and the first are skipped.

    Without ``state`` its attention reads ``x``, which is what the layer makes of it first; without both every layer
    below is run. With ``off`` the pass goes on to the end of the layer, whose heads of these numbers deliver nothing.
    ``read`` (T, d_model) is what its attention has read.
    """

    attention: nn.Module
    layer: int
    x: Tensor | None
    state: Tensor | None
    off: tuple[int, ...] | None = None
    below: Any = None
    read: Tensor | None = None
    weights: Tensor | None = None
    outputs: Tensor | None = None
    after: Tensor | None = None


_current: ContextVar[_Pass | None] = ContextVar("own_attention", default=None)


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A copy of a model with weights that it shares and transformers' own attention, and the layers of its stack."""

    model: Any
    layers: tuple[Layer, ...]


_twins: "WeakKeyDictionary[nn.Module, Twin]" = WeakKeyDictionary()


def _attend_as_written(
    module: nn.Module, q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, Tensor | None]:
    """Return what transformers calls in every layer of a twin: the function beside the layer's own class."""
    if "indices" in options or "block_indices" in options:
        attention_mask = mask_of_chosen(module, attention_mask, options)
    eager = sys.modules[type(module).__module__].eager_attention_forward
    outputs, weights = eager(module, q, k, v, attention_mask, **options)
    going = _current.get()
    if going is not None and module is going.attention:
        going.outputs, going.weights = outputs[0], weights[0]
        if options.get("s_aux") is not None:
            going.weights = _with_sink(weights[0], v[0], outputs[0])
        if going.off is None:
            raise _LayerReachedError
        outputs = outputs.clone()
        outputs[:, :, list(going.off)] = 0.0
    return outputs, weights


def _with_sink(weights: Tensor, value: Tensor, outputs: Tensor) -> Tensor:
    """Return weights whose rows have given the sink its share; Granite hands out those before, and outputs after.

    The share that is left to the words is how long the output is beside the sum that the weights alone would make.
    """
    alone = weights @ share_kv(value, len(weights))
    share_of_words = (outputs.transpose(0, 1) * alone).sum(-1) / alone.square().sum(-1).clamp(min=1e-30)
    return weights * share_of_words[..., None]


@cache
def _install() -> None:
    register_eager(EAGER_NAME, _attend_as_written)


def _with_input(forward: Callable[..., Any], state: Tensor, args: Any, options: dict[str, Any]) -> Any:
    """Call a module with another first argument, (T, d_model), wherever it takes that one (CTRL's takes it thrice)."""
    if args:
        return forward(*(state[None] if value is args[0] else value for value in args), **options)
    return forward(**options | {"hidden_states": state[None]})


def _begin_at(
    block: nn.Module, attention: nn.Module, index: int, *, is_last: bool, hands_on_states: list[bool]
) -> None:
    """Have a twin's block skipped below the layer of a pass, and begin with the state of the pass at that layer.

    A pass goes on behind the last one. ``hands_on_states`` is filled once blocks are known to hand on a state alone.
    """
    # Held weakly, or a model's tensors wait for a collection of garbage. A block's second layer finds a ``run`` there.
    before = block.forward
    own_forward: Callable[[], Any] = WeakMethod(before) if ismethod(before) else lambda: before
    own_attend: Callable[[], Any] = WeakMethod(attention.forward)

    def run(*args: Any, **options: Any) -> Any:
        going, forward = _current.get(), own_forward()
        ends_here = going is not None and going.off is not None and index == going.layer
        if going is None or index > going.layer or (going.state is None and going.x is None and not ends_here):
            return forward(*args, **options)
        if index == going.layer:
            state = going.state
            result = forward(*args, **options) if state is None else _with_input(forward, state, args, options)
            going.after = (result if isinstance(result, Tensor) else result[0])[0]
            if not is_last:
                raise _LayerReachedError
            return result
        if hands_on_states:
            return args[0] if args else options["hidden_states"]
        # T5's first block makes the position bias of all, in a tuple.
        if going.below is None:
            going.below = forward(*args, **options)
            hands_on_states.extend([True] * isinstance(going.below, Tensor))
        return going.below

    def read(*args: Any, **options: Any) -> Any:
        going, attend = _current.get(), own_attend()
        if going is None or going.attention is not attend.__self__:
            return attend(*args, **options)
        if going.state is not None or going.x is None:
            going.read = (args[0] if args else options["hidden_states"])[0]
            return attend(*args, **options)
        going.read = going.x
        return _with_input(attend, going.x, args, options)

    block.forward, attention.forward = run, read


def twin(model: LoadedModel) -> Twin:
    """Make the copy of a model that its layers are held to; once, for its first stack."""
    if (existing := _twins.get(model.model)) is not None:
        return existing
    _install()
    tensors = {id(tensor): tensor for tensor in chain(model.model.parameters(), model.model.buffers())}
    copied = deepcopy(model.model, dict(tensors))
    copied.set_attn_implementation(EAGER_NAME)
    stack = model.layers[0].layout.stack
    layers = tuple(layer for layer in find_layers(copied) if layer.layout.stack == stack)
    hands_on_states: list[bool] = []
    n_blocks = len(copied.base_model.get_submodule(layers[0].layout.attention.partition(".{i}")[0]))
    for layer in layers:
        _begin_at(
            copied.base_model.get_submodule(layer.block_path),
            layer.attention,
            layer.block,
            is_last=layer.block == n_blocks - 1,
            hands_on_states=hands_on_states,
        )
    return _twins.setdefault(model.model, Twin(model=copied, layers=layers))


def has_own_attention(model: LoadedModel) -> bool:
    """Return whether transformers has an attention for this family that stands by itself."""
    module = sys.modules[type(model.layers[0].attention).__module__]
    return hasattr(module, "eager_attention_forward") and not model.layers[0].layout.maps_only


def _go(model: LoadedModel, ids: Sequence[int], going: _Pass) -> Any:
    """Run a twin as far as a pass goes; what the model hands out if that is to its end."""
    inputs: dict[str, Any] = {"input_ids": torch.tensor([ids])}
    if model.model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.tensor([[0]])
    elif model.layers[0].layout.stack == "decoder":
        inputs["use_cache"] = False
    token = _current.set(going)
    try:
        with torch.inference_mode():
            return twin(model).model.base_model(**inputs, return_dict=True)
    except _LayerReachedError:
        return None
    finally:
        _current.reset(token)


def _attend_once(model: LoadedModel, capture: Capture, layer: int) -> tuple[Tensor, Tensor, Tensor]:
    """Run a layer's own attention: its weights (H, Q, K), outputs (Q, H, d_v) and what it has read, (Q, d_model)."""
    states = capture.states.get(model.layers[0].layout.stack)
    twin_layer = twin(model).layers[layer]
    call = capture.calls[layer]
    # W_Q of latent attention may read another vector than its layer.
    x = None if call.latent is not None else call.x
    going = _Pass(twin_layer.attention, twin_layer.block, x, None if states is None else states[twin_layer.block])
    if not twin_layer.can_run_alone:
        going.x = going.state = None
    _go(model, capture.tokens.ids, going)
    assert going.weights is not None and going.outputs is not None and going.read is not None
    return going.weights, going.outputs, going.read


def own_heads(model: LoadedModel, capture: Capture, layer: int) -> tuple[Tensor, Tensor]:
    """The weights of a layer's heads by its own module, (H, Q, K), and what they deliver, (Q, H, d_v).

    The layer reads its state, or what W_Q was applied to where a capture has no states; those below it are not run.
    """
    return _attend_once(model, capture, layer)[:2]


def own_row(model: LoadedModel, capture: Capture, layer: int, head: int, row: int) -> tuple[Tensor, Tensor]:
    """One row of one head by the model's own layer, (K,), and what its W_O makes of this row of all heads, (d_out,)."""
    weights, outputs, read = _attend_once(model, capture, layer)
    with torch.inference_mode():
        twin_layer, head_outputs = twin(model).layers[layer], outputs[row]
        if twin_layer.layout.gate and (module := gate_module(twin_layer)) is not None:
            gate = read_gate(twin_layer, module(read[row][None]), len(head_outputs))
            head_outputs = head_outputs * gate[:, 0]
        handed_on: Tensor = twin_layer.output(head_outputs.flatten()[None])[0]
    return weights[head, row].clone(), handed_on


def own_map(model: LoadedModel, ids: Sequence[int], layer: int, head: int) -> Tensor:
    """The weights of one head on these tokens, (T, T), by a pass of the model's own from its first layer to this."""
    twin_layer = twin(model).layers[layer]
    going = _Pass(twin_layer.attention, twin_layer.block, None, None)
    _go(model, ids, going)
    assert going.weights is not None
    return going.weights[head].clone()


def own_state_without(model: LoadedModel, capture: Capture, layer: int, heads: Sequence[int]) -> Tensor | None:
    """Return a layer's output, (T, d_model), with some heads zeroed; behind the final norm if it is the last layer.

    Only this layer is run, so that the capture has to have the states between layers; None if it has not.
    """
    states = capture.states.get(model.layers[0].layout.stack)
    if states is None:
        return None
    twin_layer = twin(model).layers[layer]
    state = states[twin_layer.block] if twin_layer.can_run_alone else None
    going = _Pass(twin_layer.attention, twin_layer.block, None, state, off=tuple(heads))
    result = _go(model, capture.tokens.ids, going)
    if twin_layer.block == len(states) - 2 and result is not None:
        handed_on = result.encoder_last_hidden_state if model.model.config.is_encoder_decoder else result[0]
        last: Tensor = handed_on[0]
        return last
    return going.after
