"""Pictures: the ones drawn for this project, and a user's own, which are decoded with suspicion."""

import re
import struct
import tomllib
from functools import cache
from io import BytesIO

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor

from viz import ASSETS

PICTURES = ("digit", "texture", "scene")


class ImageError(ValueError):
    """A file that is not shown; ``code`` names the reason, ``values`` fill its sentence."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(f"{code}: {values}" if values else code)
        self.code, self.values = code, values


@cache
def picture(name: str) -> Float[Tensor, "channels rows columns"]:
    """A picture of this project, 0 to 1: the digit and the texture have one channel, the scene has three."""
    with Image.open(ASSETS / "images" / f"{name}.png") as image:
        return _numbers(image)


@cache
def kernels() -> dict[str, Float[Tensor, "filters k k"]]:
    """The filters of ``assets/kernels.toml``, by name."""
    with (ASSETS / "kernels.toml").open("rb") as file:
        return {name: torch.tensor(entry["filters"], dtype=torch.float) for name, entry in tomllib.load(file).items()}


def for_channels(filters: Float[Tensor, "filters k k"], channels: int) -> Float[Tensor, "out channels k k"]:
    """A kernel that applies every filter to every channel alone: output f * channels + c is filter f of channel c."""
    blocks = torch.einsum("fij,oc->focij", filters, torch.eye(channels))
    return blocks.flatten(0, 1)


def decode(
    raw: bytes, *, side: int, most_bytes: int, most_pixels: int, longest: int
) -> Float[Tensor, "channels rows columns"]:
    """Read a PNG or JPEG file and reduce it: RGB, 0 to 1, without metadata, so many pixels a ``side`` at most.

    Size and kind are read from the header before anything is unpacked. Transparent pixels are laid on white; the
    camera's note on which side is up is followed. 16 million pixels take up to 192 MB on their way, and Pillow holds 8
    bytes more for each row of the ``longest`` side.

    Raises:
        ImageError: if the file is too large, of another kind, moving, stuffed with what is no picture, or broken.
    """
    if len(raw) > most_bytes:
        raise ImageError("bytes", mb=round(most_bytes / 1e6))
    try:
        # Only these two decoders are tried, whatever the file's name or type.
        with Image.open(BytesIO(raw), formats=("PNG", "JPEG")) as image:
            if image.width * image.height > most_pixels:
                raise ImageError("pixels", width=image.width, height=image.height, most=most_pixels // 10**6)
            if max(image.size) > longest:
                raise ImageError("long", width=image.width, height=image.height, most=longest)
            if getattr(image, "n_frames", 1) > 1:
                raise ImageError("moving")
            # A JPEG is unpacked at a fraction of its size.
            image.draft("RGB", (2 * side, 2 * side))
            return _numbers(_reduced(image, side))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError("bomb", most=most_pixels // 10**6) from error
    except UnidentifiedImageError as error:
        raise ImageError("kind") from error
    except ImageError:
        raise
    except (OSError, SyntaxError, EOFError, struct.error, OverflowError, MemoryError, ValueError) as error:
        # Pillow unpacks up to 1 MB of a text or colour profile chunk, 64 MB in all, before it refuses.
        stuffed = re.search("too large|too much memory", str(error), re.IGNORECASE)
        raise ImageError("stuffed" if stuffed else "broken") from error


def _reduced(image: Image.Image, side: int) -> Image.Image:
    """Upright, RGB, 8 bits, at most ``side`` pixels a side. Nothing but that is done before it is small."""
    # Of 16 bits a pixel Pillow's own conversion would cut off instead of scaling.
    if image.mode.startswith("I"):
        image = Image.fromarray((np.asarray(image) // 257).clip(0, 255).astype(np.uint8))
    plain = "RGBA" if image.has_transparency_data else "RGB"
    small = image if image.mode == plain else image.convert(plain)
    small.thumbnail((side, side), Image.Resampling.BOX)
    small = ImageOps.exif_transpose(small) or small
    if small.mode == "RGBA":
        small = Image.alpha_composite(Image.new("RGBA", small.size, "white"), small)
    return small.convert("RGB")


def _numbers(image: Image.Image) -> Tensor:
    values = torch.from_numpy(np.asarray(image).astype(np.float32) / 255)
    return values[None] if values.ndim == 2 else values.permute(2, 0, 1).contiguous()
