"""Whole blocks of a source, cached layer by layer.

A source has blocks of its own (a model's, or seeded ones around the same heads as on the other pages). A decoder
block reads a second text; a model that has none lends its encoder's output to a seeded one.
"""

from dataclasses import replace

import torch
from torch import Tensor

from viz import limits
from viz.core.block import BlockDesign, BlockTrace, BlockWeights
from viz.core.masks import causal, combine
from viz.core.spec import AttentionSpec
from viz.errors import ModelError
from viz.frame import compute
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.compute.positions import every_encoding, own_rows
from viz.frame.specs import Mask, Placing, Source
from viz.models.blocks import Blocks, find_block_layout, model_blocks
from viz.models.capture import Capture, capture
from viz.models.positions import first
from viz.models.tokens import Tokens

WIDER = 4
"""d_ff / d_model of seeded blocks: the default."""
SEEDS = 10_000
"""From one layer's seed to the next one's: more than a user may choose, so that layers never share one."""
DECODERS = 1_000
"""The first layer number of seeded decoder blocks, whose weights are others than the encoder's."""


def reading(source: Source, positions: bool = True, target: str = "") -> Capture:
    """Return the capture of a text for the first block, cut to the longest text of a stack.

    Seeded tokens may have sinusoids added; ``target`` is what the decoder of an encoder-decoder writes.
    """
    if source.kind == "model" and not target and _is_short(source):
        return compute.read(source)
    return _reading(source, positions, target)


@compute.cached
def _is_short(source: Source) -> bool:
    """Return True if whole blocks take all of a text; kept, because the pass that tells is large and may be gone."""
    return len(compute.read(source).tokens.ids) <= compute.stack_tokens(source)


@compute.cached
def _reading(source: Source, positions: bool, target: str) -> Capture:
    if source.kind == "model":
        loaded_model = compute.model(source.model)
        most = min(compute.stack_tokens(source), loaded_model.max_tokens)
        return capture(loaded_model, source.text, target=target or None, max_tokens=most)
    tokens, vectors = compute.bare(source)
    tokens, vectors = first(tokens, limits.STACK_TOKENS), vectors[: limits.STACK_TOKENS]
    return compute.on_seeded_heads(source, tokens, vectors + (table(source, len(vectors)) if positions else 0))


def table(source: Source, n: int) -> Tensor:
    """The sinusoids that are added to a source's seeded tokens, (n, d_model)."""
    _, vectors = compute.bare(source)
    return every_encoding(source, Placing())["sinusoidal"].table(n, vectors.shape[1])


def inputs(source: Source, plan: BlockPlan) -> dict[str, Tensor]:
    """Return the parts of the first block's input: the tokens' embeddings, and their positions if any.

    None of them, if they are not all that is added up.
    """
    if source.kind == "model":
        ids = reading(source).tokens.ids
        vectors = compute.model(source.model).embeddings(list(ids))
        try:
            rows = own_rows(source)
        except ModelError:
            # OPT-350m has a matrix between the two, which widens the tokens' vectors.
            return {}
        return {"embedding": vectors} | ({} if rows is None else {"position": rows[: len(ids)]})
    vectors = compute.bare(source)[1][: limits.STACK_TOKENS]
    return {"embedding": vectors} | ({"position": table(source, len(vectors))} if plan.positions else {})


def target_tokens(source: Source, target: str, plan: BlockPlan) -> Tokens:
    """The target's tokens as a decoder reads them."""
    if not has_decoder(source):
        return reading(writer(source, target), plan.positions).tokens
    shifted = reading(source, target=target).target
    assert shifted is not None
    return shifted


def has_decoder(source: Source) -> bool:
    """Return True if the source is an encoder-decoder with blocks of its own on both sides."""
    return source.kind == "model" and bool(compute.model(source.model).model.config.is_encoder_decoder)


def own_norm(source: Source) -> str:
    """Return the place of the norms in the source's own blocks, as :class:`~viz.core.block.BlockDesign` names it.

    Raises:
        ModelError: "block", if it is not known how this model's blocks are put together.
    """
    if source.kind != "model":
        return BlockDesign().norm
    loaded_model = compute.model(source.model)
    return find_block_layout(loaded_model, loaded_model.layers[0].layout.stack).norm


@compute.cached
def seeded_weights(spec: AttentionSpec, d_ff: int, seed: int, d_memory: int | None) -> BlockWeights:
    """Untrained weights of a block; with the width of a memory, of a decoder's."""
    return BlockWeights.random(spec, d_ff, seed=seed, d_memory=d_memory)


def seeded_blocks(
    text_capture: Capture, source: Source, layers: tuple[int, ...], memory: Tensor | None = None
) -> Blocks:
    """Untrained blocks around a source's seeded heads; with a memory, decoder blocks."""
    call = text_capture.calls[0]
    first, d_memory = (0, None) if memory is None else (DECODERS, memory.shape[1])
    d_ff = WIDER * call.projections.spec.d_model
    spec = call.projections.spec
    weights_of = {i: seeded_weights(spec, d_ff, source.seed + (first + i) * SEEDS, d_memory) for i in set(layers)}
    return Blocks(x=call.x, weights=tuple(weights_of[i] for i in layers), design=BlockDesign(), memory=memory)


def first_stack(source: Source, plan: BlockPlan) -> Blocks:
    """The blocks of an encoder, or of a decoder-only model.

    Raises:
        ModelError: "block", if it is not known how this model's blocks are put together.
    """
    source_capture = reading(source, plan.positions)
    if source.kind != "model":
        return seeded_blocks(source_capture, source, plan.layers or (0,))
    trained = model_blocks(compute.model(source.model), source_capture)
    return trained.choose(plan.layers) if plan.layers else trained


@compute.cached
def blocks(source: Source, plan: BlockPlan, mask: Mask) -> tuple[BlockTrace, ...]:
    """Every intermediate of every block of an encoder, or of a decoder-only model.

    Raises:
        ModelError: "block", if it is not known how this model's blocks are put together.
    """
    stack = first_stack(source, plan)
    n = len(stack.x)
    return stack.run(allowed=mask.allowed(n, n), design=plan.design(stack.design))


def handed_on(source: Source, plan: BlockPlan, mask: Mask) -> Tensor:
    """Return the memory of a decoder: the last block's output, behind the model's final norm if it has one."""
    stack, last = first_stack(source, plan), blocks(source, plan, mask)[-1].output
    return stack.finish(last, plan.design(stack.design))


def writer(source: Source, target: str) -> Source:
    """Return the source that writes the target: itself, or seeded heads as wide and as many as a model's own."""
    if source.kind != "model":
        return replace(source, text=target)
    spec = reading(source).calls[0].projections.spec
    H, G = (spec.H, spec.G) if spec.d_model % spec.H == 0 else (1, 1)
    return Source(kind="embeddings", text=target, model=source.model, n_heads=H, n_kv_heads=G)


def decoder_stack(source: Source, target: str, plan: BlockPlan, mask: Mask) -> Blocks:
    """The blocks that write the target: a model's own, or seeded ones.

    Raises:
        ModelError: "empty", if the target has no word.
    """
    memory = handed_on(source, plan, mask)
    if not has_decoder(source):
        seeded_source = writer(source, target)
        return seeded_blocks(reading(seeded_source, plan.positions), seeded_source, plan.layers or (0,), memory)
    trained = model_blocks(compute.model(source.model), reading(source, target=target), "decoder")
    return replace(trained.choose(plan.layers) if plan.layers else trained, memory=memory)


def decoder_masks(mask: Mask, n_queries: int, n_keys: int) -> dict[str, Tensor | None]:
    """Return the masks of a decoder: causal for the target itself, the source's padding for the memory."""
    if mask.kind in ("padding", "both"):
        real_keys = replace(mask, kind="padding").allowed(n_queries, n_keys)
        return {"allowed": causal(n_queries, n_queries), "memory_allowed": real_keys}
    user_mask = mask.allowed(n_queries, n_queries)
    return {"allowed": combine(causal(n_queries, n_queries), user_mask), "memory_allowed": None}


@compute.cached
def decoder_blocks(source: Source, target: str, plan: BlockPlan, mask: Mask) -> tuple[BlockTrace, ...]:
    """Every intermediate of every decoder block, causal, which reads what :func:`handed_on` says.

    Raises:
        ModelError: "empty", if the target has no word.
    """
    stack = decoder_stack(source, target, plan, mask)
    assert stack.memory is not None
    masks = decoder_masks(mask, len(stack.x), len(stack.memory))
    with torch.inference_mode():
        return stack.run(**masks, design=plan.design(stack.design))
