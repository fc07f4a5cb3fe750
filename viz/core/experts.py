"""Experts in the place of a block's feed-forward network: a router sends every token through a few of them."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.feed_forward import Activation, FeedForwardTrace, FeedForwardWeights, feed_forward
from viz.core.heads import project


@dataclass(frozen=True, kw_only=True)
class Router:
    """W_R ``w`` (d_model, E), its bias ``b`` (E,) if any, and the rule that chooses and weights k of E experts.

    ``score`` is "softmax" over all experts or "sigmoid" of each alone. ``correction`` (E,) is added to the scores for
    the choice, not for the weights. ``renormalize`` divides the weights of the chosen by their sum; ``scale``
    multiplies them.

    Raises:
        ValueError: if fewer than one or more than E experts are to be chosen.
    """

    w: Tensor
    k: int
    b: Tensor | None = None
    score: Literal["softmax", "sigmoid"] = "softmax"
    correction: Tensor | None = None
    renormalize: bool = True
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.n_experts:
            raise ValueError(f"{self.k} of {self.n_experts} experts cannot be chosen")

    @property
    def n_experts(self) -> int:
        """E, the number of experts to choose from."""
        return int(self.w.shape[1])


@dataclass(frozen=True, kw_only=True)
class Routing:
    """Every step of a router, in order: ``logits`` and ``scores`` are (T, E), ``numbers`` and ``weights`` (T, k).

    ``numbers`` are those of a token's experts, the one with the largest score first; ``weights`` are theirs.
    """

    logits: Tensor
    scores: Tensor
    numbers: Tensor
    weights: Tensor

    @property
    def by_expert(self) -> Tensor:
        """Weight of every expert for every token, (T, E): 0 for those that were not chosen."""
        return torch.zeros_like(self.scores).scatter(-1, self.numbers, self.weights)


@dataclass(frozen=True, kw_only=True)
class ExpertsWeights:
    """A ``router``, its ``experts``, and a ``shared`` network, if any, that every token goes through.

    ``w_shared`` (d_model, 1) makes the weight of the shared network, a sigmoid; without it that weight is 1.

    Raises:
        ValueError: if the router chooses among another number of experts.
    """

    router: Router
    experts: tuple[FeedForwardWeights, ...]
    shared: FeedForwardWeights | None = None
    w_shared: Tensor | None = None

    def __post_init__(self) -> None:
        if self.router.n_experts != len(self.experts):
            raise ValueError(f"the router chooses among {self.router.n_experts} experts, not {len(self.experts)}")

    def n_parameters(self) -> int:
        """Numbers learned, counted from the tensors themselves."""
        passed_over = self.experts[self.router.k :]
        return sum(map(Tensor.numel, self.active_tensors)) + sum(expert.n_parameters() for expert in passed_over)

    @property
    def active_tensors(self) -> tuple[Tensor, ...]:
        """As many tensors as one token is computed with: the router's, those of k experts, the shared network's."""
        networks = (self.router, *self.experts[: self.router.k], self.shared)
        values = [value for network in networks if network is not None for value in vars(network).values()]
        return tuple(value for value in (*values, self.w_shared) if isinstance(value, Tensor))


@dataclass(frozen=True, kw_only=True)
class ExpertsTrace:
    """Every step, in order: the ``routing``, the ``shared`` network, ``output`` (T, d_model).

    ``shared_weight`` is (T, 1); None where that weight is 1.
    """

    routing: Routing
    shared: FeedForwardTrace | None
    shared_weight: Tensor | None
    output: Tensor


Network = FeedForwardWeights | ExpertsWeights
"""Weights of what stands behind the heads of a block: one network, or several to choose from."""
NetworkTrace = FeedForwardTrace | ExpertsTrace


def route(x: Float[Tensor, "*B T d_model"], router: Router) -> Routing:
    r"""Choose k experts for every token, and weight them.

    .. math:: s = \operatorname{softmax}(x W_R + b), \quad S = \text{the } k \text{ largest of } s + c, \quad
              g_e = \gamma\, s_e \Big/ \sum_{j \in S} s_j

    Shazeer et al. 2017, sec. 2.1, without noise; some models have a sigmoid instead of the softmax, and some leave out
    the division. Between equal scores ``torch.topk`` chooses, as in transformers.

    Example:
        >>> route(torch.tensor([[0.0, 1.0]]), Router(w=torch.tensor([[0.0, 0.0, 0.0], [1.0, 3.0, 3.0]]), k=2)).weights
        tensor([[0.5000, 0.5000]])
    """
    logits = project(x, router.w, router.b)
    scores = logits.softmax(-1) if router.score == "softmax" else logits.sigmoid()
    ranks = scores if router.correction is None else scores + router.correction
    numbers = ranks.topk(router.k, dim=-1).indices
    weights = scores.gather(-1, numbers)
    if router.renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return Routing(logits=logits, scores=scores, numbers=numbers, weights=router.scale * weights)


def mixture_of_experts(
    x: Float[Tensor, "*B T d_model"], weights: ExpertsWeights, *, activation: Activation = torch.relu
) -> ExpertsTrace:
    r"""Send every token through the experts that its router chooses, and add up what they make of it.

    .. math:: \operatorname{FF}(x) = \sum_{e \in S} g_e \operatorname{FF}_e(x)
              \;\big[+\; \sigma(x w_s) \operatorname{FF}_s(x)\big]

    Shazeer et al. 2017, eq. 1. An expert computes only the tokens that it was chosen for.

    Example:
        >>> one = FeedForwardWeights(w_in=torch.ones(1, 1), w_out=torch.ones(1, 1))
        >>> ten = FeedForwardWeights(w_in=torch.ones(1, 1), w_out=torch.full((1, 1), 10.0))
        >>> weights = ExpertsWeights(router=Router(w=torch.tensor([[0.0, 1.0]]), k=1), experts=(one, ten))
        >>> mixture_of_experts(torch.tensor([[2.0]]), weights).output
        tensor([[20.]])
    """
    routing = route(x, weights.router)
    rows, numbers, shares = (values.flatten(0, -2) for values in (x, routing.numbers, routing.weights))
    output = torch.zeros_like(rows)
    for number in numbers.unique().tolist():
        tokens, places = (numbers == number).nonzero(as_tuple=True)
        expert = feed_forward(rows[tokens], weights.experts[number], activation=activation)
        output = output.index_add(0, tokens, shares[tokens, places, None] * expert.output)
    output = output.view_as(x)
    shared = None if weights.shared is None else feed_forward(x, weights.shared, activation=activation)
    shared_weight = None if weights.w_shared is None else (x @ weights.w_shared).sigmoid()
    if shared is not None:
        output = output + (shared.output if shared_weight is None else shared_weight * shared.output)
    return ExpertsTrace(routing=routing, shared=shared, shared_weight=shared_weight, output=output)


def network(x: Tensor, weights: Network, *, activation: Activation = torch.relu) -> NetworkTrace:
    """Run what stands behind the heads of a block: one feed-forward network, or experts."""
    if isinstance(weights, ExpertsWeights):
        return mixture_of_experts(x, weights, activation=activation)
    return feed_forward(x, weights, activation=activation)
