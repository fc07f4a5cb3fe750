"""Draws the pictures of the Convolution page into this folder: ``python assets/images/draw.py``. They are ours: CC0."""

import math
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter

SIDE, FINE = 32, 8


def digit() -> Image.Image:
    """A handwritten 5, white on black, one channel."""
    large = Image.new("L", (SIDE * FINE, SIDE * FINE))
    pen = ImageDraw.Draw(large)
    pen.line([(190, 52), (100, 56), (92, 116)], fill=255, width=26, joint="curve")
    pen.arc((70, 100, 190, 212), 230, 150, fill=255, width=26)
    return large.filter(ImageFilter.GaussianBlur(5)).resize((28, 28), Image.Resampling.BOX)


def texture() -> Image.Image:
    """Woven stripes of two directions, one channel, not square."""
    made = Image.new("L", (37, 29))
    for row in range(29):
        for column in range(37):
            over = math.sin(column * 0.9) if (row // 4 + column // 4) % 2 else math.sin(row * 1.3 + column * 0.35)
            made.putpixel((column, row), round(127.5 + 110 * over))
    return made


def scene() -> Image.Image:
    """A house under a sun, hills behind it, in colour."""
    width, height = 48 * FINE, 36 * FINE
    large = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(large)
    for row in range(height):
        share = row / height
        pen.line([(0, row), (width, row)], fill=(int(90 + 130 * share), int(150 + 70 * share), int(225 - 20 * share)))
    pen.ellipse((300, 20, 352, 72), fill=(250, 220, 110))
    hills = [(x, 170 + 26 * math.sin(x / 55) + 12 * math.sin(x / 21)) for x in range(0, width + 1, 4)]
    pen.polygon([*hills, (width, height), (0, height)], fill=(92, 140, 84))
    field = [(x, 220 + 10 * math.sin(x / 80 + 2)) for x in range(0, width + 1, 4)]
    pen.polygon([*field, (width, height), (0, height)], fill=(150, 170, 80))
    pen.rectangle((90, 150, 190, 232), fill=(205, 190, 165))
    pen.polygon([(78, 152), (140, 98), (202, 152)], fill=(160, 70, 55))
    pen.rectangle((128, 186, 152, 232), fill=(90, 60, 45))
    pen.rectangle((100, 166, 120, 186), fill=(70, 95, 130))
    pen.rectangle((160, 166, 180, 186), fill=(70, 95, 130))
    pen.rectangle((262, 180, 272, 236), fill=(90, 65, 45))
    pen.ellipse((236, 118, 298, 196), fill=(55, 105, 60))
    return large.filter(ImageFilter.GaussianBlur(2)).resize((48, 36), Image.Resampling.BOX)


if __name__ == "__main__":
    for draw in (digit, texture, scene):
        draw().save(Path(__file__).parent / f"{draw.__name__}.png", optimize=True)
