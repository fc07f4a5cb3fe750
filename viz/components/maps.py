"""Data of the strip of maps in the browser: a few maps of the same tokens, exact, and how to read them.

Rows are queries, columns are keys; the two may be different texts. Pictures of the same size are drawn in the same way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from viz.components.head_grid import pack
from viz.components.kinds import Text
from viz.components.unpack import unpack
from viz.components.view import View
from viz.text import Translate

MAPS = View("maps/maps", sends={"chosen": Text(40)}, colours=True)
"""Maps side by side; a map that is chosen is sent by its code."""


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


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One channel (rows, columns), in greys from ``low`` to ``high``; or coloured around 0 if ``signed``.

    Colours are full at ``high`` and at -``high``.
    """

    title: str
    values: Tensor
    low: float
    high: float
    signed: bool = False


def pack_pictures(pictures: Sequence[Picture], *, alt: str, **header: Any) -> bytes:
    """Pack pictures of one size for ``client/maps.js``: pointing at a pixel reads it off in all of them.

    Each has a scale of its own; ``alt`` is what all of them show.

    Raises:
        RuntimeError: if they are not of one size.
    """
    values = torch.stack([picture.values.detach().float() for picture in pictures])
    rows, columns = (tuple(map(str, range(length))) for length in values.shape[1:])
    panels = [
        Panel(
            code=str(i),
            title=picture.title,
            alt=". ".join(filter(None, [picture.title, alt])),
            labels=rows,
            columns=columns,
        )
        for i, picture in enumerate(pictures)
    ]
    scales = [{"low": picture.low, "high": picture.high, "signed": picture.signed} for picture in pictures]
    return pack_maps(panels, values, what="pictures", limit=1.0, scales=scales, **header)


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
        what: "weights" (0 to 1), "scores" (coloured around 0, full colour from ``limit`` on) or "pictures".
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


def show_maps(
    t: Translate,
    titles: Iterable[str],
    maps: Tensor,
    rows: tuple[str, ...],
    *,
    key: str,
    axes: str,
    columns: tuple[str, ...] = (),
    alt: str = "",
    sentence: str = "",
    what: str = "weights",
    limit: float = 1.0,
) -> Tensor:
    """Show maps (maps, Q, K) side by side; return them as the browser reads them, for a check.

    ``columns`` are the keys where these are other tokens than the queries; then there is no offset to be read off.
    ``alt`` is what all of them show, if their titles do not say it, and ``sentence`` what a cell says, if it is not who
    looks at whom; ``axes`` says what rows and columns are. The rest is as in :func:`pack_maps`.
    """
    panels = [
        Panel(code=str(i), title=title, alt=alt or title, labels=rows, columns=columns)
        for i, title in enumerate(titles)
    ]
    data = pack_maps(panels, maps, what=what, limit=limit, gutter=True)
    looks = t("map.looks" if columns and columns[: len(rows)] != rows else "map.says")
    MAPS.mount(key=key, data=data, words={"says": sentence or looks, "axes": axes})
    header, blocks = unpack(data)
    return torch.from_numpy(blocks["values"]).view(len(header["maps"]), header["rows"], header["n"])
