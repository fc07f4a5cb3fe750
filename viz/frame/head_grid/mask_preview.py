"""The open cells of every mask, with which the browser previews another one before the server responds."""

from base64 import b64encode
from functools import lru_cache
from typing import Any

import numpy as np

from viz.frame import specs
from viz.frame.inputs import DETAILS
from viz.frame.scene import Scene

MOST = 64
"""Tokens up to which this is sent; of more it would be more than the words and choices it goes with."""
KINDS = tuple(kind for kind in specs.MASKS if kind not in ("own", "painted"))
"""Masks that are a rule; a painted one is known where it was painted."""


@lru_cache(maxsize=256)
def _open_cells(mask: specs.Mask, n_queries: int, n_keys: int) -> str:
    """A bit for each cell, row by row, 1 where the query may look."""
    is_open = mask.allowed(n_queries, n_keys)
    assert is_open is not None
    return b64encode(np.packbits(is_open.expand(n_queries, n_keys).numpy()).tobytes()).decode()


def mask_previews(scene: Scene) -> dict[str, Any] | None:
    """The mask that is chosen, and by their names in the list the cells that others leave open; "" is all of them."""
    t, sizes = scene.t, (len(scene.capture.queries.ids), len(scene.capture.tokens.ids))
    if max(sizes) > MOST:
        return None
    # Of a mask that is not chosen, its details are those that it had before.
    details: dict[str, Any] = {detail.name: detail.value for detail in DETAILS if detail.has_value}
    masks = {kind: specs.Mask(kind=kind, **details) for kind in KINDS}
    return {
        "kind": t(f"mask.{scene.choice.mask.kind}"),
        "own": t("mask.own"),
        "open": {t("mask.own"): ""} | {t(f"mask.{kind}"): _open_cells(masks[kind], *sizes) for kind in KINDS},
    }
