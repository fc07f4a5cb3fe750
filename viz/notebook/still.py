"""A still picture of the grid, and words, for a notebook that is read without a kernel: exported, printed."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO

import torch
from PIL import Image
from torch import Tensor

from viz.components.head_grid import largest_of_blocks
from viz.figures.palette import BLUE, ORANGE, rgba
from viz.notebook.maps import Maps, is_special_token
from viz.text import fill

LARGE, SMALL, MOST_CELLS = 128, 24, 200_000
"""Cells of a side of the large map and of a small one at most, and of all small maps together."""
NAMES, SIDE, LINKS, LETTERS, LONGEST = 40, 360, 5, 12, 600
"""Tokens that have their names beside the map, its pixels, weights in words, letters of a token and of a text."""
FRAME = rgba(ORANGE, 1)
NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Place = tuple[str, int, int]
"""The name of a stack, a layer by its number in the model, and a head."""
Axes = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""The labels along the rows and the columns of each stack."""


def describe(maps: Mapping[str, Maps], axes: Axes, place: Place, around: Mapping[str, str]) -> list[str]:
    """Return in words how many heads there are, and the largest weights of one, special tokens left out."""
    name, layer, head = place
    heads, n, n_keys = maps[name].shape
    rows, columns = axes[name]
    weights, is_special = maps[name].head(layer, head), torch.tensor([is_special_token(w) for w in columns[:n_keys]])
    of_words = weights.masked_fill(is_special, 0)
    values, cells = (of_words if bool(of_words.any()) else weights).flatten().topk(min(LINKS, weights.numel()))
    links = [
        fill(around["link"], query=rows[cell // n_keys], key=columns[cell % n_keys], weight=f"{value:.2f}")
        for value, cell in zip(values.tolist(), cells.tolist(), strict=True)
    ]
    size = fill(around["layers"], layers=len(maps[name].layers), heads=heads, n=n)
    return [size, fill(around["still"], layer=layer, head=head, links=", ".join(links))]


def still_html(maps: Mapping[str, Maps], axes: Axes, place: Place, lines: Sequence[str], *, marker: str) -> str:
    """Return the picture and its words as HTML without a script, a style or another host.

    Args:
        maps: of every stack.
        axes: the labels along them.
        place: the head that is large.
        lines: words, the title first.
        marker: a class, by which a page with the live grid finds this and hides it.
    """
    image, (title, *words) = b64encode(_picture(maps, axes, place).encode()).decode(), map(_literal, lines)
    # MathJax reads no sums of money here as formulas.
    return (
        f'<div class="tex2jax_ignore mathjax_ignore {marker}"><p dir="auto"><b>{title}</b></p>'
        f'<img alt="{title}" src="data:image/svg+xml;base64,{image}"><p dir="auto">{"<br>".join(words)}</p></div>'
    )


def cut(text: str, n: int) -> str:
    """Return at most n letters of a text, the last an ellipsis where some are left out."""
    return text if len(text) <= n else f"{text[: n - 1]}…"


def _literal(text: str) -> str:
    """Text for HTML that may stand in Markdown, where a blank line ends HTML and two dollars make a formula."""
    return escape(NO_XML.sub("\ufffd", text)).replace("\r", "").replace("\n", " ").replace("$", "&#36;")


def _picture(maps: Mapping[str, Maps], axes: Axes, place: Place) -> str:
    """An SVG: one head large with its tokens, and beside it every head, a row for each layer."""
    name, layer, head = place
    weights = maps[name].head(layer, head)
    n_rows, n_columns = weights.shape
    step, has_names = SIDE / max(weights.shape), max(weights.shape) <= NAMES
    left = top = 96.0 if has_names else 24.0
    large = largest_of_blocks(weights[None], -(-max(weights.shape) // LARGE))[0]
    size = f'width="{step * n_columns:.1f}" height="{step * n_rows:.1f}"'
    parts = [_image(large, left, top, size), f'<rect x="{left}" y="{top}" {size} fill="none" stroke="#ccc"/>']
    for i, word in enumerate(axes[name][0][:n_rows] if has_names else ()):
        parts.append(_label(word, f'x="{left - 4}" y="{top + (i + 0.5) * step:.1f}" text-anchor="end"'))
    for i, word in enumerate(axes[name][1][:n_columns] if has_names else ()):
        parts.append(_label(word, f'transform="translate({left + (i + 0.5) * step:.1f} {top - 4}) rotate(-90)"'))
    right, bottom = left + step * n_columns + 48, top
    n_heads = sum(len(stack.layers) * stack.shape[0] for stack in maps.values())
    side, x, width = max(1, min(SMALL, int((MOST_CELLS / n_heads) ** 0.5))), right, right
    for stack_name, stack in maps.items():
        frame = (layer, head) if stack_name == name else None
        wall, right, bottom = _wall(stack, frame, side, x, bottom)
        parts, width, bottom = [*parts, *wall], max(width, right), bottom + 28
    width, height = width + 8, max(top + step * n_rows, bottom - 28) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="system-ui, sans-serif" font-size="10" fill="#1a1c24">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _wall(stack: Maps, frame: tuple[int, int] | None, side: int, x: float, y: float) -> tuple[list[str], float, float]:
    """The small maps of a stack at a place, the chosen one framed; where they end, to the right and below."""
    n_heads, *sizes = stack.shape
    cell, pool = max(8, min(30, 480 // n_heads)), -(-max(sizes) // side)
    rows = []
    for number in stack.layers:
        small = stack.small.get(number)
        # Small maps that are pooled already are pooled again.
        layer = stack.layers[number] if small is None else small
        maps = largest_of_blocks(layer, pool if small is None else -(-max(small.shape[1:]) // side))
        gap = max(1, maps.shape[-1] // 12)
        rows.append(torch.cat(list(torch.nn.functional.pad(maps, (0, gap, 0, gap))), 1))
    right, bottom = x + cell * n_heads, y + cell * len(rows)
    parts = [_image(torch.cat(rows), x, y, f'width="{right - x:.1f}" height="{bottom - y:.1f}"')]
    for i, number in enumerate(stack.layers):
        parts.append(_label(str(number), f'x="{x - 5:.1f}" y="{y + (i + 0.4) * cell:.1f}" text-anchor="end"'))
        if frame and frame[0] == number:
            corner = f'x="{x + frame[1] * cell - 1:.1f}" y="{y + i * cell - 1:.1f}"'
            parts.append(f'<rect {corner} width="{cell}" height="{cell}" fill="none" stroke="{FRAME}"/>')
    parts += [
        _label(str(i), f'x="{x + (i + 0.45) * cell:.1f}" y="{y - 6:.1f}" text-anchor="middle"')
        for i in range(0, n_heads, 1 if cell > 15 else 4)
    ]
    return parts, right, bottom


def _label(word: str, place: str) -> str:
    letters = escape(NO_XML.sub("\ufffd", cut(word, LETTERS)))
    return f'<text {place} dominant-baseline="middle">{letters}</text>'


def _image(weights: Tensor, x: float, y: float, size: str) -> str:
    """Weights as a picture of one cell a pixel, the opacity of blue the square root of the weight."""
    levels = (weights.clamp(0, 1).sqrt() * 255).round().to(torch.uint8)
    palette = bytes(round(255 + (hue - 255) * level / 255) for level in range(256) for hue in BLUE)
    image, png = Image.fromarray(levels.numpy()), BytesIO()
    image.putpalette(palette)
    image.save(png, "png")
    return (
        f'<image x="{x:.1f}" y="{y:.1f}" {size} preserveAspectRatio="none" style="image-rendering: pixelated" '
        f'href="data:image/png;base64,{b64encode(png.getvalue()).decode()}"/>'
    )
