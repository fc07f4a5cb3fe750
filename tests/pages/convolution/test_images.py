"""Pictures are of their declared kind; hostile files end in the code of a sentence, never in a crash or a full
memory."""

import struct
import zlib
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image, PngImagePlugin

from pages.convolution import images
from pages.convolution.images import ImageError, for_channels, kernels, picture

decode = partial(images.decode, side=64, most_bytes=2_000_000, most_pixels=16_000_000, longest=16_384)


def encode_image(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def header_only(width: int, height: int) -> bytes:
    """A PNG of a few bytes that claims any size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


def code_of(raw: bytes) -> str:
    with pytest.raises(ImageError) as caught:
        decode(raw)
    return caught.value.code


def test_packaged_pictures_shape_and_range():
    sizes = {name: tuple(picture(name).shape) for name in images.PICTURES}
    assert sizes == {"digit": (1, 28, 28), "texture": (1, 29, 37), "scene": (3, 36, 48)}
    for name in images.PICTURES:
        assert 0 <= picture(name).min() < 0.4
        assert 0.7 < picture(name).max() <= 1


def test_kernels_odd_and_blurs_normalised():
    for name, filters in kernels().items():
        assert filters.shape[1] == filters.shape[2] in (3, 5), name
    torch.testing.assert_close(torch.stack([kernels()[name].sum() for name in ("blur", "blur5")]), torch.ones(2))


def test_every_filter_meets_every_channel_alone():
    filters = torch.tensor([[[2.0]], [[3.0]]])
    image = torch.tensor([1.0, 10.0, 100.0])[:, None, None]
    out = torch.nn.functional.conv2d(image[None], for_channels(filters, 3))[0].flatten()
    assert out.tolist() == [2, 20, 200, 3, 30, 300]


@pytest.mark.parametrize(("kind", "mode"), [("PNG", "RGB"), ("JPEG", "RGB"), ("PNG", "L"), ("PNG", "P")])
def test_ordinary_files_become_small_rgb(kind: str, mode: str):
    image = Image.new("RGB", (211, 97), (255, 0, 0)).convert(mode)
    result = decode(encode_image(image, kind))
    assert result.shape == (3, 29, 64)
    expected = torch.from_numpy(np.asarray(image.convert("RGB")).copy()[0, 0] / 255).float()
    torch.testing.assert_close(result[:, 14, 30], expected, rtol=0, atol=0.02)  # JPEG rounds


def test_decode_small_and_thin_pictures():
    """Keep small pictures at their size; a thin one keeps at least one pixel."""
    assert decode(encode_image(Image.new("RGB", (5, 3)))).shape == (3, 3, 5)
    assert decode(encode_image(Image.new("RGB", (3000, 2)))).shape == (3, 1, 64)


def test_decode_sixteen_bits_scaled():
    deep = Image.fromarray(np.full((7, 11), 32768, np.uint16))
    torch.testing.assert_close(decode(encode_image(deep)), torch.full((3, 7, 11), 127 / 255), rtol=0, atol=0.005)


def test_cmyk_is_converted():
    result = decode(encode_image(Image.new("CMYK", (13, 7), (0, 0, 0, 0)), "JPEG"))
    torch.testing.assert_close(result, torch.ones(3, 7, 13), rtol=0, atol=0.02)


def test_decode_transparency_and_exif_orientation():
    assert decode(encode_image(Image.new("RGBA", (3, 3), (255, 0, 0, 0)))).min() == 1
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    assert decode(encode_image(Image.new("RGB", (40, 20)), "JPEG", exif=exif)).shape == (3, 40, 20)


def test_bombs_are_refused_by_their_header(monkeypatch):
    """By our bound, or by Pillow's where that is lower."""
    assert code_of(header_only(4_001, 4_001)) == "pixels"
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1_000)
    assert code_of(header_only(50, 50)) == "bomb"


def test_decode_longest_side_at_limit():
    """A row of as many pixels as a side may have is read; one more is refused before it is unpacked."""
    assert decode(encode_image(Image.new("1", (16_384, 2)))).shape == (3, 1, 64)
    assert code_of(header_only(16_385, 1)) == code_of(header_only(1, 16_385)) == "long"


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "P", "I;16"])
def test_decode_largest_picture_takes_few_copies(mode: str, monkeypatch: pytest.MonkeyPatch):
    """Only one large picture beside the file's own is made: all else is done when it is small."""
    result: list[int] = []
    make = Image.Image._new

    def note(image: Image.Image, core: Any) -> Image.Image:
        results = make(image, core)
        result.append(results.width * results.height)
        return results

    raw = encode_image(Image.new(mode, (1_009, 1_013)))
    monkeypatch.setattr(Image.Image, "_new", note)
    decode(raw)
    assert sum(n > 1_000_000 for n in result) <= 2, "in the mode that is reduced, and with its colours made ready"


def test_decode_oversized_file_not_opened(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Image, "open", None)
    assert code_of(b"\0" * (2_000_001)) == "bytes"


@pytest.mark.parametrize("chunk", [b"zTXt", b"iCCP", b"iTXt"])
@pytest.mark.parametrize("copies", [1, 100])
def test_decode_large_metadata_rejected(chunk: bytes, copies: int, monkeypatch: pytest.MonkeyPatch):
    """One note that unpacks to more than Pillow's bound, lowered for this test, or a hundred that do together."""
    monkeypatch.setattr(PngImagePlugin, "MAX_TEXT_CHUNK", 1_000)
    monkeypatch.setattr(PngImagePlugin, "MAX_TEXT_MEMORY", 64_000)
    packed = zlib.compress(bytes(20_000 if copies == 1 else 900), 1)
    body = b"a\0" + (b"\1\0\0\0" if chunk == b"iTXt" else b"\0") + packed
    part = struct.pack(">I", len(body)) + chunk + body + struct.pack(">I", zlib.crc32(chunk + body))
    plain = encode_image(Image.new("RGB", (9, 9)))
    raw = plain[:33] + part * copies + plain[33:]
    if chunk == b"iCCP" and copies > 1:  # of several profiles the last one counts, and each is small enough
        assert decode(raw).shape == (3, 9, 9)
    else:
        assert code_of(raw) == "stuffed"


def test_moving_pictures_are_refused():
    frames = [Image.new("RGB", (9, 9), (shade, 0, 0)) for shade in (0, 90, 180)]
    assert code_of(encode_image(frames[0], save_all=True, append_images=frames[1:])) == "moving"


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"hello", b"\x89PNG\r\n\x1a\n", b"%PDF-1.7",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        *(encode_image(Image.new("RGB", (9, 9)), kind) for kind in ("GIF", "TIFF", "BMP")),
    ],
)  # fmt: skip
def test_other_kinds_are_refused(raw: bytes):
    assert code_of(raw) in {"kind", "broken"}


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_decode_damaged_files_never_crash(kind: str):
    noise = np.random.default_rng(0).integers(0, 255, (61, 67, 3), np.uint8)
    raw = encode_image(Image.fromarray(noise), kind)
    assert code_of(raw[: len(raw) // 2]) == "broken"
    rng = np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(raw)
        for at in rng.integers(0, len(raw), 8):
            damaged[at] = rng.integers(0, 256)
        try:
            assert decode(bytes(damaged)).shape[0] == 3
        except ImageError as error:
            assert error.code in {"broken", "kind", "pixels", "bomb", "moving"}
