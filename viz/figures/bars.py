"""A bar chart: one number for each token or head, several series side by side."""

from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from torch import Tensor

from viz.figures.layout import UPWARDS, axis, base_layout
from viz.figures.palette import HEADS, plain, rgba

MOST_LABELS = 48
ROOM = 48
"""Letters below the narrowest chart, as wide as a phone: labels that fit, with two spaces each, stand upright."""


def bars(
    labels: Sequence[str],
    series: Mapping[str, Tensor],
    *,
    title: str,
    value_title: str,
    top: float | None = None,
    colours: Sequence[tuple[int, int, int]] | None = None,
    hues: Sequence[tuple[int, int, int]] = HEADS,
    height: int = 260,
) -> dict[str, Any]:
    """Draw one bar for each label and series; -inf and NaN leave a gap.

    Args:
        labels: what stands under each bar, shown literally.
        series: name in the legend -> one value for each label.
        title: what a label is (the key, the head).
        value_title: what the height is, with its unit.
        top: where the axis ends; None fits the values.
        colours: one for each bar of a single series; None colours by series.
        hues: one for each series.
        height: of the figure, in pixels.
    """
    names = [plain(label) for label in labels]
    traces = []
    for i, (name, values) in enumerate(series.items()):
        colour = [rgba(hue, 0.9) for hue in colours] if colours else rgba(hues[i % len(hues)], 0.9)
        traces.append(_trace(name, values, names, colour))
    layout = base_layout(
        height,
        showlegend=len(series) > 1,
        xaxis=axis(title, **_label_ticks(labels)),
        yaxis=axis(value_title, grid=True, zeroline=True, limits=(0, top) if top else None),
    )
    return {"data": traces, "layout": layout}


def _trace(name: str, values: Tensor, labels: list[str], colour: str | list[str]) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": plain(name),
        "x": list(range(len(labels))),
        "y": values.detach().float().where(values.isfinite(), float("nan")).numpy(),
        "marker": {"color": colour},
        "customdata": labels,
        "hovertemplate": "%{customdata}: %{y:.4f}<extra></extra>",
    }


def _label_ticks(labels: Sequence[str]) -> dict[str, Any]:
    """The labels below the bars, of many some; upright if they fit, else turned."""
    shown = range(0, len(labels), -(-len(labels) // MOST_LABELS) or 1)
    widest = max((_letters(labels[i]) for i in shown), default=0)
    return {
        "tickvals": list(shown),
        "ticktext": [plain(labels[i]) for i in shown],
        "tickangle": 0 if len(shown) * (widest + 2) <= ROOM else UPWARDS,
    }


def _letters(label: str) -> int:
    """How wide a label is: a Chinese character is as wide as two letters."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in label)
