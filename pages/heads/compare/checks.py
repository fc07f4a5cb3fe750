"""Live checks of two texts: what the browser was sent, read back, beside the same computed in another way."""

import numpy as np

from pages.heads.compare import by_numpy
from pages.heads.compare.picture import PictureData
from viz.components.comparison import two_maps, unpacked
from viz.frame.checks import Check, check

CODE = 1e-5
"""A code of 16 bits is 8e-6 off, beside what float32 rounds."""

COLOUR = 1 / 254 + 1e-3
"""A code of 8 bits is that far off in what a colour shows, the square root; 1e-3 is a difference of 1e-6 there."""


def compare_checks(view: PictureData) -> list[Check]:
    """Of the two maps, the order of the heads, the small map of the chosen head, and the pairs of tokens."""
    wall, two = unpacked(view.wall), unpacked(view.two)
    expected = by_numpy.two_by_torch(view.comparison_key, view.what, *view.heads)
    off = max(apart(mine, expected_map) for mine, expected_map in zip(two_maps(two), expected, strict=True))
    changes = by_numpy.changes_by_torch(view.comparison_key)
    checks = [
        check(f"second.check_{view.what}", off, 2 * CODE * two["limit"]),
        check("second.check_change", apart(wall["measures"], changes), CODE),
        check("second.check_pairs", by_numpy.wrong_pairs(view.comparison_key), 0),
    ]
    if wall["pool"] == 1:
        checks.append(check("second.check_small", _small_map(view, wall), COLOUR))
    return checks


def _small_map(view: PictureData, wall: dict[str, object]) -> float:
    """Error of the selected head's small map against the difference, in the codes of its colours."""
    layer, head = view.heads[1]
    a, b = by_numpy.two_by_torch(view.comparison_key, "weights", *view.heads)
    codes = np.asarray(wall["values"]).reshape(-1, *a.shape)[layer * int(str(wall["n_heads"])) + head].astype(float)
    actual = np.where(codes == 255, np.nan, codes / 127 - 1)
    return apart(actual, np.sign(b - a) * np.sqrt(np.abs(b - a)))


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference; infinite where only one of them has a number."""
    apart = np.where(np.isnan(a) & np.isnan(b), 0.0, np.abs(a - b))
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))
