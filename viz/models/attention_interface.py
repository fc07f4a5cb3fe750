"""The attention transformers calls in our stead: it runs ``attend``, and notes what every layer sees."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from viz.cancellation import check
from viz.core.attention import attend
from viz.core.heads import share_kv
from viz.errors import ModelError
from viz.models.layout import Layer

INTERFACE = "headlight"


@dataclass
class Recorder:
    """What one forward pass leaves behind; each pass has its own, also when visitors share the model.

    Everything is kept by the ``id`` of the module it belongs to; ``off`` names the heads to silence there.
    """

    off: Mapping[int, list[int]] = field(default_factory=dict)
    seen: dict[int, dict[str, Any]] = field(default_factory=dict)
    inputs: dict[int, Tensor] = field(default_factory=dict)


_current: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(off: Mapping[int, list[int]]) -> Iterator[Recorder]:
    """Keep what the forward passes inside the ``with`` see; another thread has its own recorder, or none."""
    recorder = Recorder(off)
    token = _current.set(recorder)
    try:
        yield recorder
    finally:
        _current.reset(token)


_HARMLESS = frozenset(
    (
        "dropout",
        "sliding_window",
        "is_causal",  # not when only looking; in the mask already
        "position_ids",
        "cache_position",
        "use_cache",  # used before attention
        "output_attentions",
        "output_hidden_states",
        "return_dict",
    )
)
"""What else transformers may hand to attention without changing its weights."""


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
    check()
    for name, other in others.items():
        # What is not known to leave the weights alone might change them: say so, do not guess.
        if other is not None and name not in _HARMLESS:
            raise ModelError("attention", model=type(module).__name__, option=name)
    allowed, bias = attention_mask, position_bias
    if attention_mask is not None and attention_mask.is_floating_point():
        allowed, bias = None, attention_mask if bias is None else bias + attention_mask
    options: dict[str, Any] = {"allowed": allowed, "bias": bias, "scale": scaling or 1 / math.sqrt(query.shape[-1])}
    if softcap is not None:
        options["score_mod"] = soft_cap(softcap)
    n_heads = query.shape[1]
    trace = attend(query, share_kv(key, n_heads), share_kv(value, n_heads), **options)
    output = trace.output.transpose(1, 2)
    if (recorder := _current.get()) is not None:
        recorder.seen[id(module)] = {"q": query[0], "k": key[0], "v": value[0], "options": options}
        if off := recorder.off.get(id(module)):
            output = output.index_fill(2, torch.tensor(off), 0.0)
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
        if (recorder := _current.get()) is not None:
            recorder.inputs[id(module)] = args[0][0]

    for layer in layers:
        for projection in layer.projections[:2]:
            projection.register_forward_pre_hook(note)
