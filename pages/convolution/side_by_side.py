"""Pictures side by side: a layer's input, its output, and the difference of two layers."""

from collections.abc import Sequence

from torch import Tensor

from viz.components.maps import MAPS, Picture, pack_pictures
from viz.text import Translate


def show_side_by_side(t: Translate, pictures: Sequence[Picture], *, key: str, alt: str) -> None:
    """Show pictures of one size; ``alt`` says what all of them show."""
    n_signed = sum(picture.signed for picture in pictures)
    scale = "greys" if n_signed == 0 else "signed" if n_signed == len(pictures) else "both"
    words = {"says": t("convolution.pixel"), "axes": t(f"convolution.scale_{scale}")}
    MAPS.mount(key=key, data=pack_pictures(pictures, alt=alt), words=words)


def shared_scale(*values: Tensor) -> tuple[float, float]:
    """The lowest and highest of all, so that pictures can be compared; a little apart where all are equal."""
    low, high = min(float(picture.min()) for picture in values), max(float(picture.max()) for picture in values)
    return low, high if high > low else low + 1e-9
