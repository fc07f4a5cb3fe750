"""Strips of maps on the tokens of the text: weights from 0 to 1, or cells that may be negative."""

from collections.abc import Sequence

from torch import Tensor

from pages.attention_today.context import TodayContext
from viz.components.maps import Panel, pack_maps, unpack_maps
from viz.frame.show import MAPS


def show_maps(
    context: TodayContext,
    titles: Sequence[str],
    maps: Tensor,
    *,
    key: str,
    signed: bool = False,
    columns: tuple[str, ...] = (),
) -> Tensor:
    """Show maps (n maps, T, columns) side by side; return them as the browser reads them, for a check.

    ``signed`` colours them around 0, all on one scale. ``columns`` name the keys where these are not the text's tokens
    alone.
    """
    t = context.t
    panels = [
        Panel(code=str(i), title=title, alt=title, labels=context.labels, columns=columns)
        for i, title in enumerate(titles)
    ]
    limit = max(float(maps.abs().max()), 1e-6) if signed else 1.0
    packed = pack_maps(panels, maps, what="scores" if signed else "weights", limit=limit, gutter=True)
    axes = "attention_today.axes_signed" if signed else "attention_today.axes"
    MAPS.mount(key=key, data=packed, words={"says": t("map.says"), "axes": t(axes)})
    return unpack_maps(packed)
