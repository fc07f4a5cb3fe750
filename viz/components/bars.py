"""What a bar chart in the browser is sent: a number for each name, of one series or several. It needs no plotly."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import torch
from torch import Tensor

from viz.components.head_grid import pack
from viz.figures.palette import HEADS

Hue = tuple[int, int, int]


@dataclass(frozen=True)
class BarChart:
    """Bars as they are drawn; -inf and NaN leave a gap.

    Args:
        labels: what stands under each bar, shown literally.
        series: name in the legend -> one value for each label.
        title: what a label is.
        value_title: what the height is, with its unit.
        top: where the axis ends; None fits the values.
        colours: one for each bar of a single series; None colours by series.
        hues: one for each series.
        height: in pixels.
    """

    labels: Sequence[str]
    series: Mapping[str, Tensor]
    _: KW_ONLY
    title: str
    value_title: str
    top: float | None = None
    colours: Sequence[Hue] | None = None
    hues: Sequence[Hue] = HEADS
    height: int = 260


def pack_bars(drawn: BarChart, **header: Any) -> bytes:
    """Pack a chart for ``client/charts/bars.js``.

    Args:
        drawn: the chart.
        header: ``words``, and what else the browser should know.
    """
    told = {
        "labels": list(drawn.labels),
        "series": list(drawn.series),
        "title": drawn.title,
        "value_title": drawn.value_title,
        "top": drawn.top,
        "colours": None if drawn.colours is None else [list(hue) for hue in drawn.colours],
        "height": drawn.height,
        "hues": [list(hue) for hue in drawn.hues],
    }
    values = torch.stack([series.detach().to("cpu", torch.float32) for series in drawn.series.values()])
    return pack({**told, **header}, {"values": values.where(values.isfinite(), torch.nan)}).data
