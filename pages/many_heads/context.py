"""The context of every section: the layer of the scene."""

from dataclasses import dataclass

from torch import Tensor

from viz.core.heads import HeadWeights
from viz.frame.scene import Scene, SceneContext


@dataclass(frozen=True, kw_only=True)
class ManyHeadsContext(SceneContext):
    """The scene's layer of heads."""

    @property
    def n_heads(self) -> int:
        """Number of heads."""
        return self.scene.trace.projections.spec.H

    @property
    def names(self) -> list[str]:
        """Names of the heads."""
        return [self.t("many_heads.head", head=head) for head in range(self.n_heads)]


def open_many_heads(scene: Scene) -> ManyHeadsContext:
    """Return the context; the sections draw the controls of a head themselves."""
    return ManyHeadsContext(scene=scene)


def q_and_k_of(weights: HeadWeights, head: int) -> tuple[Tensor, Tensor]:
    """Return one head's W_Q (d_model, d_k) and W_K (d_mem, d_k); heads that share keys have the same W_K."""
    spec = weights.spec
    group = head * spec.G // spec.H
    return (
        weights.w_q[:, head * spec.d_k : (head + 1) * spec.d_k],
        weights.w_k[:, group * spec.d_k : (group + 1) * spec.d_k],
    )
