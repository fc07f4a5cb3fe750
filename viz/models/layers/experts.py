"""A block's router and experts as the core's weights, from a module of transformers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

from torch import Tensor, nn

from viz.core.experts import ExpertsWeights, Router
from viz.core.feed_forward import FeedForwardWeights
from viz.models.layout import linear


@dataclass(frozen=True, kw_only=True)
class ExpertsLayout:
    """Paths of a family's experts, their router and a shared network below its block (``blocks.toml``).

    ``score`` is as in :class:`~viz.core.experts.Router`; ``w`` and ``scale`` are the router module's own names.
    """

    path: str
    router: str
    score: Literal["softmax", "sigmoid"] = "softmax"
    w: str = "weight"
    scale: str = "routed_scaling_factor"
    correction: str = ""
    shared: str = ""
    w_shared: str = ""

    @property
    def tensors(self) -> tuple[str, ...]:
        """The paths of the tensors that :func:`read_experts` reads."""
        stacked = (f"{self.path}.gate_up_proj", f"{self.path}.down_proj", f"{self.router}.{self.w}", self.correction)
        parts = [f"{self.shared}.{name}_proj.{kind}" for name in ("up", "gate", "down") for kind in ("weight", "bias")]
        return *stacked, *parts, f"{self.w_shared}.weight"


def read_experts(block: nn.Module, layout: ExpertsLayout) -> ExpertsWeights | None:
    """The experts of a block; None where it has one feed-forward network, as some layers of most families.

    All matrices are views: transformers keeps those of all experts in one tensor, (E, out, in), W_g above W_1.
    """
    stacked: Any = _below(block, layout.path)
    if stacked is None:
        return None
    router: Any = _below(block, layout.router)
    w, correction = _below(router, layout.w), _below(block, layout.correction)
    gates, inputs = stacked.gate_up_proj.detach().mT.chunk(2, dim=-1)
    outputs = stacked.down_proj.detach().mT
    shared, shared_gate = (_below(block, path) for path in (layout.shared, layout.w_shared))
    return ExpertsWeights(
        router=Router(
            w=w.detach().T,
            k=int(router.top_k),
            score=layout.score,
            correction=None if correction is None else correction.detach().flatten(),
            renormalize=bool(getattr(router, "norm_topk_prob", True)),
            scale=float(getattr(router, layout.scale, 1.0)),
        ),
        experts=tuple(
            FeedForwardWeights(w_in=w_in, w_gate=w_gate, w_out=w_out)
            for w_in, w_gate, w_out in zip(inputs, gates, outputs, strict=True)
        ),
        shared=None if shared is None else _gated(shared),
        w_shared=None if shared_gate is None else linear(shared_gate)[0],
    )


def experts_activation(block: nn.Module, layout: ExpertsLayout) -> Any:
    """The activation function of a block's experts; None where it has none."""
    return _below(block, f"{layout.path}.act_fn")


def chooses_groups(block: nn.Module, layout: ExpertsLayout) -> bool:
    """Return whether a router first chooses some groups of experts, and then experts of these groups alone."""
    router: Any = _below(block, layout.router)
    return getattr(router, "num_group", None) != getattr(router, "topk_group", None)


def _gated(shared: Any) -> FeedForwardWeights:
    parts: Mapping[str, tuple[Tensor, Tensor | None]] = {
        name: linear(getattr(shared, f"{name}_proj")) for name in ("up", "gate", "down")
    }
    (w_in, b_in), (w_gate, b_gate), (w_out, b_out) = parts.values()
    return FeedForwardWeights(w_in=w_in, b_in=b_in, w_gate=w_gate, b_gate=b_gate, w_out=w_out, b_out=b_out)


def _below(module: Any, path: str) -> Any:
    """Return what a module keeps at a path; None where it keeps nothing there, or the path is empty."""
    return reduce(lambda part, name: getattr(part, name, None), path.split("."), module)
