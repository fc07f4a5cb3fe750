"""What the strip of maps in the browser is sent: a few maps of the same tokens, exact, and how to read them.

Rows are queries, columns are keys; the two may be different texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from viz.components.head_grid import pack


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One map of the strip: its code, what is written over it, what a screen reader says, and its tokens.

    ``columns`` are the keys, where these are other tokens than the queries.
    """

    code: str
    title: str
    alt: str
    labels: tuple[str, ...]
    columns: tuple[str, ...] = ()


def pack_maps(
    panels: Sequence[Panel],
    values: Tensor,
    *,
    what: str,
    limit: float,
    profiles: Tensor | None = None,
    chosen: str | None = None,
    **header: Any,
) -> bytes:
    """Pack maps for ``client/maps.js``.

    Args:
        panels: what stands around each map.
        values: (maps, Q, K), rows = queries.
        what: "weights" (0 to 1) or "scores" (coloured around 0, full colour from ``limit`` on).
        limit: where the scale of the scores ends, the same for every map.
        profiles: (maps, 2 T - 1), a number for each offset, drawn below each map.
        chosen: the code of the map that is open; None if maps cannot be chosen.
        header: ``words``, ``hues``, ``gutter``, and what else the browser should know.
    """
    blocks: dict[str, Tensor] = {"values": values.float()}
    sizes: Mapping[str, Any] = {
        "maps": [asdict(panel) for panel in panels],
        "n": values.shape[-1],
        "rows": values.shape[-2],
        "what": what,
        "limit": limit,
        "chosen": chosen,
        "chooses": chosen is not None,
    }
    if profiles is not None:
        blocks["profiles"] = profiles.float()
    return pack({**sizes, **header}, blocks).data
