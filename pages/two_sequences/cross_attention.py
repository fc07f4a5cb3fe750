"""Every head between two texts, and the same heads on each text by itself."""

import streamlit as st
import torch
from torch.nn.functional import linear

from pages.two_sequences.context import TwoSequencesContext
from viz.core.analysis.checks import largest
from viz.frame.checks import Check, check, grid_checks, scene_checks
from viz.frame.head_grid.grid import grid, view_controls
from viz.frame.modes import say
from viz.frame.scene import Scene
from viz.params import Choice
from viz.text import has_text

BETWEEN = Choice("between", "cross", among=("target", "cross", "source"))
"""Map to show: the target on itself, the target on the source, the source on itself."""

CROSS_ATTENTION = (
    r"A = \operatorname{softmax}\!\left(\frac{(X W_Q)(M W_K)^\top}{\sqrt{d_k}}\right) \qquad Y = A\,(M W_V)\,W_O"
)


def draw(context: TwoSequencesContext) -> list[Check]:
    """Draw the head grid of one of the three, and the origin of its heads."""
    t, picture = context.t, st.container()
    code = BETWEEN.segments(
        t("two_sequences.between"),
        says=lambda code: t(f"two_sequences.between_{code}"),
        label_visibility="collapsed",
    )
    scene: Scene = getattr(context, code)
    with picture:
        view = view_controls(scene)
        cell = grid(scene, view)
    rows, columns = scene.trace.weights.shape[-2:]
    say(t(f"two_sequences.map_{'cross' if scene.capture.is_cross else 'self'}", rows=rows, columns=columns))
    # The container keeps the delta path of the elements below.
    with st.container():
        if sentences := whose_heads(context, scene):
            st.caption(" ".join(sentences))
    return [*_checks(scene), *grid_checks(scene, view, cell.layer, cell.head)]


def whose_heads(context: TwoSequencesContext, scene: Scene) -> list[str]:
    """Return sentences on the origin of heads between two texts; none for a text on itself."""
    t, source, sentences = context.t, scene.choice.source, []
    if scene.capture.is_cross:
        kind = _kind_of_heads(context)
        values = {"model": source.model, "layer": scene.layer_number, "seed": source.seed}
        sentences.append(t(f"two_sequences.heads_{kind}", **values))
        if any(call.rotary for call in scene.capture.calls):
            sentences.append(t("two_sequences.rotary"))
        if context.source.choice.mask.kind != "own":
            sentences.append(t("two_sequences.mask"))
    return sentences


def formula(context: TwoSequencesContext) -> None:
    """Draw the formula, and notes on these heads."""
    t = context.t
    st.latex(CROSS_ATTENTION)
    if has_text(more := f"two_sequences.heads_{_kind_of_heads(context)}_more"):
        st.markdown(t(more))


def _kind_of_heads(context: TwoSequencesContext) -> str:
    return "trained" if context.is_trained else context.source.choice.source.kind


def _checks(scene: Scene) -> list[Check]:
    """Check a map, for any heads and texts."""
    trace, weights = scene.trace, scene.trace.projections
    rows, columns = len(scene.capture.queries.ids), len(scene.capture.tokens.ids)
    off = abs(rows - trace.weights.shape[-2]) + abs(columns - trace.weights.shape[-1])
    with torch.inference_mode():
        by_torch = linear(trace.memory, weights.w_v.T, weights.b_v)
        values = by_torch.unflatten(-1, (weights.spec.G, -1)).transpose(0, 1)
        values_off = (values - trace.v).abs().max()
    return [
        *scene_checks(scene),
        check("two_sequences.check_shape", off, 0, rows=rows, columns=columns),
        check("two_sequences.check_values", values_off, 1e-5 * largest(trace.v)),
    ]
