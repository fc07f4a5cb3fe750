"""Context of the Heads page's sections: the scene, the view of its maps, and the chosen head."""

from dataclasses import dataclass

import streamlit as st

from viz.core.analysis.checks import rounding, sdpa_weights
from viz.frame import specs
from viz.frame.checks import Check, asked_of, check
from viz.frame.compute import head_grid
from viz.frame.format import number
from viz.frame.head_grid.grid import view_controls
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, SceneContext, chosen_head
from viz.frame.shared import TEMPERATURE


@dataclass(frozen=True, kw_only=True)
class HeadsContext(SceneContext):
    """A head of the scene's layer, and how the maps are shown: weights or scores, merged, hidden."""

    view: specs.View
    head: int

    @lazy
    def shown(self) -> head_grid.LayerMaps:
        """The maps of the scene's layer as the view shows them."""
        choice = self.scene.choice
        return head_grid.layer_maps(choice.source, choice.layer, choice.mask, self.view)


def open_heads(scene: Scene) -> HeadsContext:
    """Draw the chips of the head and of the view, and return the choice."""
    head = chosen_head(scene, scene.t("heads.head"), scene.trace.projections.spec.H)
    return HeadsContext(scene=scene, view=view_controls(scene), head=head)


def check_row(scene: Scene, head: int, key: str = "heads.check_row") -> Check:
    """Compare the head's weights with torch's own attention on its q and k."""
    trace, options = scene.trace, asked_of(scene)
    off = (sdpa_weights(trace.q, trace.k, **options) - trace.weights)[head].abs().max()
    return check(key, off, rounding(trace.q, trace.k, options.get("scale")))


def at_temperature_one(context: HeadsContext) -> None:
    """Say so where the large map has another temperature: everything else on the page is of T = 1."""
    if (T := TEMPERATURE.read()) != 1:
        st.caption(context.t("heads.part_at_one", T=number(T, 3)))
