"""Data of a bar chart in the browser: a number for each name, of one series or several. It needs no plotly."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from viz.components.head_grid import pack
from viz.figures.palette import HEADS

Hue = tuple[int, int, int]


@dataclass(frozen=True)
class BarChart:
    """Bars as they are drawn, with names shown literally; -inf and NaN leave a gap.

    ``top`` ends the axis of values; None fits them. ``colours`` are one for each bar of a single series; None colours
    by series. The height is in pixels.
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


def pack_bars(chart: BarChart) -> bytes:
    """Pack a chart for ``client/charts/bars.js``."""
    header = {
        "labels": list(chart.labels),
        "series": list(chart.series),
        "title": chart.title,
        "value_title": chart.value_title,
        "top": chart.top,
        "colours": None if chart.colours is None else [list(hue) for hue in chart.colours],
        "height": chart.height,
        "hues": [list(hue) for hue in chart.hues],
    }
    values = torch.stack([series.detach().to("cpu", torch.float32) for series in chart.series.values()])
    return pack(header, {"values": values.where(values.isfinite(), torch.nan)}).data
