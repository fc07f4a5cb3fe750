"""The attention transformers calls in our stead: it runs ``attend``, and notes what every layer sees."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from viz.cancellation import check
from viz.core.attention import attend
from viz.core.heads import share_kv
from viz.errors import ModelError
from viz.imports import importing
from viz.models.layers.gates import gate_module
from viz.models.layers.latent import compressing
from viz.models.layout import Layer

INTERFACE = "headlight"
Edit = Callable[[Tensor], Tensor]
"""A change of a layer's head outputs in front of W_O, (B, T, H, d_v); must not modify its argument in place."""


@dataclass
class Recorder:
    """Tensors of one forward pass; each pass has its own recorder, also when users share the model.

    Everything is kept by the ``id`` of the module it belongs to; ``edits`` change the heads' outputs there. ``stream``
    says whether what blocks are called with, and what their feed-forward networks write, is kept too; ``maps`` whether
    the weights of every text of a batch are, in ``weights``. ``unplaced`` has the layers that were called without
    positions to turn q and k by, ``gates`` the outputs of the modules that make a layer's gate, ``latents`` of those
    that make its short vectors. ``streamed`` attends in the stead of ``attend``, for a text whose weights are too many
    to be there at once; then nothing is noted but by it.
    """

    edits: Mapping[int, Edit] = field(default_factory=dict)
    stream: bool = False
    streamed: Callable[..., Tensor] | None = None
    maps: bool = False
    weights: dict[int, Tensor] = field(default_factory=dict)
    seen: dict[int, dict[str, Any]] = field(default_factory=dict)
    inputs: dict[int, Tensor] = field(default_factory=dict)
    calls: dict[int, tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)
    outputs: dict[int, Tensor] = field(default_factory=dict)
    unplaced: set[int] = field(default_factory=set)
    gates: dict[int, Tensor] = field(default_factory=dict)
    latents: dict[int, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class RowMask:
    """A long text's mask of windows or chunks, as transformers' function of two places: true where a query may look.

    All of its rows at once would be T x T, which a long text must not have.
    """

    of_places: Callable[..., Tensor]

    def __call__(self, at: Tensor, n_keys: int) -> Tensor:
        """Return the rows ``at`` of the mask, (R, n_keys)."""
        nothing = torch.zeros(1, 1, 1, 1, dtype=torch.long)
        rows = self.of_places(nothing, nothing, at[None, None, :, None], torch.arange(n_keys)[None, None, None])
        return rows[0, 0].expand(len(at), n_keys)

    def __getitem__(self, rows: tuple[slice, ...]) -> "RowMask":
        """Return the mask itself: Gemma 4 takes the rows of the words it goes on with, which are all of them."""
        if any(part not in (slice(None), slice(0, None)) for part in rows):
            raise IndexError(f"a part of a mask of windows: {rows}")
        return self

    def is_floating_point(self) -> bool:
        """Return False, as a tensor of True and False does."""
        return False


_current: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(
    edits: Mapping[int, Edit],
    *,
    stream: bool = False,
    streamed: Callable[..., Tensor] | None = None,
    maps: bool = False,
) -> Iterator[Recorder]:
    """Keep what the forward passes inside the ``with`` see; another thread has its own recorder, or none."""
    recorder = Recorder(edits, stream, streamed, maps)
    token = _current.set(recorder)
    try:
        yield recorder
    finally:
        _current.reset(token)


def silence(heads: list[int]) -> Edit:
    """Replace the outputs of these heads by zero."""
    return lambda output: output.index_fill(2, torch.tensor(heads), 0.0)


def unbatched(options: dict[str, Any]) -> dict[str, Any]:
    """Drop the batch axis; an (H, Q, K) mask that is the same for every head becomes (Q, K). A sink has no batch."""
    batched = {name: value for name, value in options.items() if isinstance(value, Tensor) and name != "sink"}
    firsts = {name: value[0, 0] if value.shape[1] == 1 else value[0] for name, value in batched.items()}
    return {**options, **firsts}


_HARMLESS = frozenset(
    (
        "dropout",
        "sliding_window",
        "is_causal",
        "position_ids",
        "cache_position",
        "use_cache",
        "output_attentions",
        "output_hidden_states",
        "return_dict",
        "output_router_logits",
        "deterministic",
    )
)
"""Options that transformers may pass to attention and that do not change its weights."""


def unscaled(q: Tensor) -> tuple[Tensor, float]:
    """Return q as it was before it was multiplied by the scale, and the scale: OPT and ESM scale no scores."""
    scale = q.shape[-1] ** -0.5
    return q / scale, scale


def mask_of_chosen(module: nn.Module, mask: Tensor | None, options: dict[str, Any]) -> Tensor | None:
    """Return a layer's mask with the choice of its own scorer, which is taken out of its ``options``.

    transformers 5.24 makes the choice part of the mask for attention named "eager" or "sdpa" alone, and hands it to any
    other beside it: ``indices`` (B, Q, k) of keys, or ``block_indices`` (B, G, Q, blocks) of blocks of keys.
    """
    if mask is None:
        return None
    indices, blocks = options.pop("indices", None), options.pop("block_indices", None)
    if indices is None and blocks is None:
        return mask
    if blocks is not None:
        build: Any = module.get_submodule("indexer").build_block_mask
        is_open = build(blocks, mask, mask.shape[-1], torch.get_default_dtype(), mask.device, None) == 0
    else:
        is_open = torch.zeros_like(mask[:, 0], dtype=torch.bool).scatter_(-1, indices.long(), True)[:, None]
    if mask.dtype == torch.bool:
        return mask & is_open
    return mask.masked_fill(~is_open, torch.finfo(mask.dtype).min)


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    position_bias: Tensor | None = None,
    s_aux: Tensor | None = None,
    **extra_options: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attend and record the call; transformers runs this in every layer (its ``AttentionInterface``)."""
    check()
    if "indices" in extra_options or "block_indices" in extra_options:
        attention_mask = mask_of_chosen(module, attention_mask, extra_options)
    for name, value_of_option in extra_options.items():
        # What is not known to leave the weights alone might change them: say so, do not guess.
        if value_of_option is not None and name not in _HARMLESS:
            raise ModelError("attention", model=type(module).__name__, option=name)
    mask_visible, bias = attention_mask, position_bias
    if attention_mask is not None and attention_mask.is_floating_point():
        mask_visible = None
        # MarkupLM's mask adds 0 where nothing is padding.
        if attention_mask.any():
            bias = attention_mask if bias is None else bias + attention_mask
    options: dict[str, Any] = {
        "allowed": mask_visible,
        "bias": bias,
        "scale": scaling or 1 / math.sqrt(query.shape[-1]),
    }
    if softcap is not None:
        # Hardly a model caps its scores.
        from viz.core.variants.today.bounded_scores import soft_cap

        options["score_mod"] = soft_cap(softcap)
    if s_aux is not None:
        options["sink"] = s_aux
    recorder = _current.get()
    if recorder is not None and recorder.streamed is not None:
        causal = extra_options.get("is_causal")
        causal = getattr(module, "is_causal", None) if causal is None else causal
        return recorder.streamed(module, query, key, value, options, causal).transpose(1, 2).contiguous(), None
    n_heads = query.shape[1]
    trace = attend(query, share_kv(key, n_heads), share_kv(value, n_heads), **options)
    output = trace.output.transpose(1, 2)
    if recorder is not None:
        call = recorder.seen[id(module)] = {"q": query[0], "k": key[0], "v": value[0], "options": options}
        if edit := recorder.edits.get(id(module)):
            output = edit(output)
        call["output"] = output[0]
        if recorder.maps:
            recorder.weights[id(module)] = trace.weights
    return output.contiguous(), trace.weights


@cache
def install() -> None:
    """Register our attention with transformers, with masks that say True for "may look"."""
    with importing():
        from transformers import AttentionInterface
        from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    def mask(*args: Any, **kwargs: Any) -> Tensor | RowMask | None:
        if (recorder := _current.get()) is not None and recorder.streamed is not None:
            if kwargs.get("local_size"):
                return RowMask(kwargs["mask_function"])
            return sdpa_mask(*args, **kwargs | {"allow_is_bidirectional_skip": True})
        # A causal mask must arrive as a mask: the short cut (None and a flag) would be for SDPA only.
        return sdpa_mask(*args, **kwargs | {"allow_is_causal_skip": False})

    AttentionInterface.register(INTERFACE, _attention)
    AttentionMaskInterface.register(INTERFACE, mask)


def register_eager(name: str, attention: Callable[..., Any]) -> None:
    """Register an attention that is called as eager attention is, with the same masks."""
    with importing():
        from transformers import AttentionInterface
        from transformers.masking_utils import AttentionMaskInterface, eager_mask

    AttentionInterface.register(name, attention)
    AttentionMaskInterface.register(name, eager_mask)


def layer_bar(n_layers: int) -> Any:
    """Return transformers' bar of progress, for a pass of more than two seconds that somebody waits for."""
    from transformers.utils import logging

    return logging.tqdm(total=n_layers, unit="layer", delay=2, leave=False, disable=None)


def watch(layers: tuple[Layer, ...]) -> None:
    """Note what goes into W_Q and W_K: the tokens that ask and the tokens that answer.

    Set once, when the model is loaded, and for good: the hooks write to the recorder of the pass they run in and
    to nothing shared, so users who run the model at the same time do not meet.
    """

    def note(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        if (recorder := _current.get()) is not None and recorder.streamed is None:
            recorder.inputs[id(module)] = args[0][0]

    def note_positions(module: nn.Module, _: Any, options: dict[str, Any]) -> None:
        if (recorder := _current.get()) is not None and options.get("position_embeddings", ()) is None:
            recorder.unplaced.add(id(module))

    def note_output(part: str, layer: Layer, module: nn.Module, _: Any, output: Tensor) -> None:
        if (recorder := _current.get()) is not None and recorder.streamed is None:
            getattr(recorder, part)[id(layer.attention)] = output[0]

    for layer in layers:
        if (down := compressing(layer)) is not None:
            down.register_forward_hook(partial(note_output, "latents", layer))
        if layer.layout.gate and (gate := gate_module(layer)) is not None:
            gate.register_forward_hook(partial(note_output, "gates", layer))
        if layer.changes() != layer.changes(has_positions=False):
            layer.attention.register_forward_pre_hook(note_positions, with_kwargs=True)
        for projection in layer.projections[:2]:
            projection.register_forward_pre_hook(note)


def watch_stream(blocks: Sequence[tuple[nn.Module, nn.Module]]) -> None:
    """Note what each block is called with, what it and its feed-forward network write, where a recorder asks for it.

    A block comes with the last module of its feed-forward network.
    """

    def note_call(module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        if (recorder := _current.get()) is not None and recorder.stream:
            recorder.calls[id(module)] = (args, options)

    def note_output(module: nn.Module, _: Any, output: Any) -> None:
        if (recorder := _current.get()) is not None and recorder.stream:
            states = output if isinstance(output, Tensor) else output[0]
            # OPT's network has no batch axis.
            recorder.outputs[id(module)] = states[0] if states.dim() == 3 else states

    for block, feed_forward in blocks:
        block.register_forward_pre_hook(note_call, with_kwargs=True)
        block.register_forward_hook(note_output)
        feed_forward.register_forward_hook(note_output)
