"""Cached results of the Stacking page for a whole stack, built on ``viz.frame.compute.blocks``."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, tee
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from viz.core.analysis.head_statistics import HeadStatistics, baseline, head_statistics
from viz.core.analysis.receptive_field import cone, output_change, sensitivity, step
from viz.core.analysis.rollout import rollout, with_residual
from viz.core.analysis.token_similarity import mean_cosine, residual_share
from viz.core.cost.counting import FlopCounterMode
from viz.core.nested import double, map_tensors
from viz.core.stack import one_by_one, stack_parameters
from viz.core.variants.layer_sharing import layers_used
from viz.frame import compute
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.compute.blocks import blocks, first_stack, reading
from viz.frame.specs import Mask, Source
from viz.models.blocks import Blocks, model_blocks

T = TypeVar("T")


def attention_maps(source: Source, plan: BlockPlan, mask: Mask) -> Tensor:
    """Every layer's weights, (L, H, T, T)."""
    return torch.stack([trace.attention.weights for trace in blocks(source, plan, mask)])


@dataclass(frozen=True, kw_only=True)
class Rollouts:
    """The last layer's ``weights``, mean over its heads, (T, T); and the rollout through 1, 2 … L layers, (L, T, T)."""

    weights: Tensor
    through: Tensor


@compute.cached
def rollouts(source: Source, plan: BlockPlan, mask: Mask) -> Rollouts:
    """Rollout through the layers of a stack."""
    with torch.inference_mode():
        maps = attention_maps(source, plan, mask)
        return Rollouts(weights=maps[-1].mean(0), through=rollout(with_residual(maps)))


def ordinary(value: T) -> T:
    """Copy tensors of inference mode, which autograd cannot track."""
    return map_tensors(value, lambda tensor: tensor.clone() if tensor.is_inference() else tensor)


Levels = Callable[..., tuple[tuple[Tensor, ...], ...]]
"""A stack as a function of the words, once or in several versions: they themselves, and every layer's outputs."""


def _in_float64(weights: Iterable[T]) -> Iterator[T]:
    """Convert one layer's weights after the other, each into the memory of the last one's: new memory costs more."""
    memory = dict[int, Tensor]()

    def convert(numbers: Iterator[int], tensor: Tensor) -> Tensor:
        i = next(numbers)
        if i not in memory or memory[i].shape != tensor.shape:
            memory[i] = torch.empty_like(tensor, dtype=torch.float64)
        return memory[i].copy_(tensor)

    for layer in weights:
        yield map_tensors(layer, partial(convert, count()))


def _levels(source: Source, plan: BlockPlan, mask: Mask, *, exact: bool = False) -> tuple[Levels, Tensor]:
    """The stack of :func:`viz.frame.compute.blocks.first_stack` and the words, exact ones in float64.

    A layer's weights are converted when it runs, once for every version: all of SmolLM2's in float64 are 850 MB.
    """
    change: Callable[[Any], Any] = double if exact else ordinary
    with torch.inference_mode(False):
        if source.kind == "model":
            capture = reading(source, plan.positions)
            stacks = {
                name: tuple(replace(call, options=change(call.options)) for call in calls)
                for name, calls in capture.stacks.items()
            }
            stacked = model_blocks(compute.model(source.model), replace(capture, stacks=stacks)).choose(plan.layers)
        else:
            stacked = first_stack(source, plan)
        x = change(stacked.x)
    n = len(x)
    options: dict[str, Any] = {"allowed": mask.allowed(n, n), "design": plan.design(stacked.design)}

    def levels(*versions: Tensor) -> tuple[tuple[Tensor, ...], ...]:
        weights = _in_float64(stacked.weights) if exact else map(ordinary, stacked.weights)
        runs = zip(versions, tee(weights, len(versions)), strict=True)
        paths = (one_by_one(x, of_run, None, stacked.attentions, **options) for x, of_run in runs)
        return (versions, *(tuple(trace.output for trace in layer) for layer in zip(*paths, strict=True)))

    return levels, x


@compute.cached
def gradients(source: Source, plan: BlockPlan, mask: Mask, query: int) -> tuple[Tensor, Tensor]:
    """Return the gradient norm of one last-layer token by each token of each level, (levels, T); level 0: the words.

    With the gradient (d_model,) by the word of the largest norm.
    """
    levels, x = _levels(source, plan, mask)
    by_word = list[Tensor]()

    def keep_gradient(words: Tensor) -> tuple[Tensor, ...]:
        words.register_hook(by_word.append)
        return tuple(level for (level,) in levels(words))

    norms = sensitivity(keep_gradient, x, query)
    return norms, by_word[0][norms[0].argmax()].clone()


STEP = 1e-8
"""Step of a finite difference as a share of the word's length: a ReLU may bend within a larger step."""


@compute.cached
def slope_error(source: Source, plan: BlockPlan, mask: Mask, query: int, most: float) -> float:
    """Return the error of the largest norm of :func:`gradients` for a word: against the slope when the word moves.

    The word is moved a little in float64, as far along its gradient, the steepest direction, as across it, where only
    what the gradient lacks has a slope. Where the error is more than ``most``, a ReLU may bend in between: then it is
    moved to the other side, too, and the smaller error counts.
    """
    norms, steepest = gradients(source, plan, mask, query)
    word = int(norms[0].argmax())
    levels, x = _levels(source, plan, mask, exact=True)
    generator = torch.Generator().manual_seed(0)
    direction, across = (normalize(torch.randn(x.shape[1], generator=generator).double(), dim=0) for _ in range(2))
    along, move = normalize(steepest.double(), dim=0), torch.zeros_like(x)
    move[word] = along + normalize(across - across @ along * along, dim=0)
    size, error = STEP * max(1.0, float(x[word].norm())), math.inf
    for away in (size, -size):
        with torch.no_grad():
            start, end = (float(words[query] @ direction) for words in levels(x, x + away * move)[-1])
        error = min(abs((end - start) / away - float(norms[0, word])), error)
        if error <= most:
            break
    return error


@dataclass(frozen=True, kw_only=True)
class Field:
    """A receptive field, (levels, T): cells that the masks let through; ``leak`` is the change of the token under noise
    on every word outside, and ``rounding`` its tolerance.
    """

    open: Tensor
    leak: float
    rounding: float


@compute.cached
def field(source: Source, plan: BlockPlan, mask: Mask, query: int) -> Field:
    """Return the receptive field of one token of the last layer."""
    traces = blocks(source, plan, mask)
    n, residual = len(traces[0].x), traces[0].design.residual
    open_ = cone(torch.stack([step(looks(trace.attention.masked), n, residual=residual) for trace in traces]), query)
    levels, x = _levels(source, plan, mask)
    with torch.inference_mode():
        changes = output_change(lambda x: levels(x)[-1][0], x, ~open_[0])
    length = max(float(trace.output[query].norm()) for trace in traces)
    return Field(open=open_, leak=float(changes[query]), rounding=1e-5 * length)


def looks(masked: Tensor) -> Tensor:
    """True where any head may attend; a model's own mask may be the lowest finite number in place of -inf."""
    return (masked > torch.finfo(masked.dtype).min / 2).any(0)


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """Similarity and length of a stack's tokens level by level, (levels,); level 0 is the input."""

    cosine: Tensor
    residual: Tensor
    length: Tensor


def _similarity(stacked: Blocks, visible: Tensor | None, plan: BlockPlan) -> Similarity:
    outputs = stacked.outputs(allowed=visible, design=plan.design(stacked.design))
    with torch.inference_mode():
        levels = torch.stack([stacked.x, *outputs])
        return Similarity(
            cosine=mean_cosine(levels), residual=residual_share(levels), length=levels.norm(dim=-1).mean(-1)
        )


DESIGNS = ((True, True), (True, False), (False, True), (False, False))
"""With residuals or not, with norms or not."""


@compute.cached
def similarity(source: Source, plan: BlockPlan, mask: Mask) -> tuple[Similarity, ...]:
    """Return the similarity of the tokens at each level, for each of :data:`DESIGNS`."""
    stacked = first_stack(source, plan)
    visible = mask.allowed(len(stacked.x), len(stacked.x))
    plans = [replace(plan, residual=residual, normalize=normalize) for residual, normalize in DESIGNS]
    return tuple(_similarity(stacked, visible, variant) for variant in plans)


@compute.cached
def portraits(
    source: Source, plan: BlockPlan, mask: Mask
) -> tuple[tuple[HeadStatistics, ...], tuple[HeadStatistics, ...]]:
    """Return the statistics of every layer's heads, and those of an even spread over the layer's visible keys."""
    tokens = reading(source, plan.positions).tokens
    ids, special = torch.tensor(tokens.ids), torch.tensor(tokens.special)
    with torch.inference_mode():
        layers = [trace.attention for trace in blocks(source, plan, mask)]
        return (
            tuple(head_statistics(layer.weights, ids, special) for layer in layers),
            tuple(baseline(looks(layer.masked), ids, special) for layer in layers),
        )


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """A stack with ``n_sets`` sets of weights: its ``parameters``, counted from the tensors, shared ones once; its
    ``flops``, by torch's own counter; and its tokens' similarity.
    """

    n_sets: int
    parameters: int
    flops: int
    similarity: Similarity


@compute.cached
def sharing(source: Source, plan: BlockPlan, mask: Mask, n_sets: int) -> Sharing:
    """Return the same stack with this many sets of weights."""
    independent = first_stack(source, plan)
    n, shared = len(independent.x), independent.choose(layers_used(len(plan.layers), n_sets))
    with FlopCounterMode(display=False) as counter:
        similar = _similarity(shared, mask.allowed(n, n), plan)
    parameters, flops = stack_parameters(shared.weights), counter.get_total_flops()
    return Sharing(n_sets=n_sets, parameters=parameters, flops=flops, similarity=similar)


def state_error(source: Source, plan: BlockPlan) -> tuple[float, float]:
    """Return the error of these blocks against a model's hidden states, without an added mask, and the states' size."""
    stacked, n = first_stack(source, plan), len(plan.layers)
    is_complete = n == len(stacked.states) - 1
    stacked = replace(stacked, states=stacked.states[: n + 1])
    if not is_complete:
        stacked = replace(stacked, final=None, projection=None)
    error = stacked.state_error(blocks(source, plan, Mask()))
    return error, max(float(states.abs().max()) for states in stacked.states)
