"""Live checks: what a section shows, compared with what must be true of it.

What a layer was to do is read off what was asked for, the source's own options and the user's mask, and written out
here once more; were it read off what the core made of it, a mistake there would agree with itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from viz.core.analysis.checks import (
    added_to_scores,
    largest,
    random_place,
    rows_error,
    sdpa_deviation,
    sink_share,
    sum_error,
)
from viz.core.heads import MultiHeadTrace
from viz.frame.compute import read
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.inputs import Choice
from viz.frame.scene import Scene
from viz.frame.specs import Mask, Source, View


@dataclass(frozen=True, kw_only=True)
class Check:
    """One live check: what was compared (a text key), how far it is off, and how far it may be."""

    key: str
    error: float
    tolerance: float
    values: dict[str, Any]

    @property
    def passed(self) -> bool:
        """NaN does not pass."""
        return self.error <= self.tolerance

    def __str__(self) -> str:
        return f"{self.key} {self.error} of {self.tolerance}"


def check(key: str, error: Any, tolerance: float, **values: Any) -> Check:
    """Make a check; ``error`` may be a tensor of one number."""
    return Check(key=key, error=float(error), tolerance=tolerance, values=values)


def attention_checks(trace: MultiHeadTrace, **options: Any) -> list[Check]:
    """Return the checks of a layer that attends with these options; tolerances cover float32 rounding."""
    score_bias, nowhere = added_to_scores(trace.q, trace.k, **options), sink_share(trace.q, trace.k, **options)
    rows = "truth.rows" if nowhere is None else "truth.rows_sink"
    return [
        check(rows, rows_error(trace.weights, score_bias, nowhere), 1e-5),
        check("truth.sdpa", *sdpa_deviation(trace, **options)),
        check("truth.sum", sum_error(trace), 1e-5 * largest(trace.output)),
    ]


def source_checks(source: Source, layer: int, mask: Mask) -> list[Check]:
    """Return what must hold of a source in every section that shows it: tokens, a row, a vector or the weights' file.

    Each is a small part, drawn at random for this source, layer and mask, and computed by another way.
    """
    from viz.frame.compute.recount import source_errors

    return _checks(source_errors(source, layer, mask))


def grid_checks(scene: Scene, view: View, layer: int, head: int) -> list[Check]:
    """Return what must hold of the grid: its labels, a random row of its small maps, a random row of the large one."""
    from viz.frame.compute.recount import grid_errors

    choice = scene.choice
    return _checks(grid_errors(choice.source, choice.mask, view, layer, head))


def _checks(errors: Iterable[tuple[str, float, float, dict[str, Any]]]) -> list[Check]:
    return [Check(key=key, error=error, tolerance=tolerance, values=values) for key, error, tolerance, values in errors]


def choice_checks(choice: Choice, *, any_layer: bool) -> list[Check]:
    """Return what must hold of a scene's source, in the chosen layer, or in any on a page that shows all."""
    source, layer = choice.source, choice.layer
    if any_layer:
        layer = random_place(read(source).n_layers, source, "layer")
    return source_checks(source, layer, choice.mask)


def scene_checks(scene: Scene) -> list[Check]:
    """Return the checks of the layer that a scene shows."""
    checks = attention_checks(scene.trace, **asked_of(scene))
    # Of maps alone the softmax is the model's own.
    return checks[:1] if scene.call.maps_only else checks


def asked_of(scene: Scene) -> dict[str, Any]:
    """Return the attention options of a scene's layer: its source's own, and the user's mask."""
    call, mask = scene.call, scene.choice.mask
    if mask.kind == "own":
        return {"allowed": None, **call.options}
    return with_mask(call.options, mask_by_rule(mask, call.q.shape[1], call.k.shape[1]))


def open_cells(scene: Scene) -> Tensor:
    """True where the layer of a scene was asked to let a query look, (H, Q, K)."""
    added = added_to_scores(scene.trace.q, scene.trace.k, **asked_of(scene))
    shape = scene.trace.weights.shape
    return torch.ones(shape, dtype=torch.bool) if added is None else (added > -torch.inf).expand(shape)
