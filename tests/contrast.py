"""Contrast of a colour on another (WCAG 2.2, 1.4.3), and the colours of the two themes' pages."""

from typing import NamedTuple

ENOUGH = 4.5
"""For text of default size."""
Colour = tuple[float, ...]


class Theme(NamedTuple):
    """A page's own colours, and what Streamlit makes of ``viz.figures.palette.INK`` there."""

    background: Colour
    text: Colour
    ink: Colour


THEMES = {
    "light": Theme(background=(255, 255, 255), text=(47, 45, 43), ink=(38, 39, 48)),
    "dark": Theme(background=(23, 22, 20), text=(237, 235, 232), ink=(250, 250, 250)),
}


def over(colour: Colour, opacity: float, background: Colour) -> Colour:
    """A colour laid over another."""
    return tuple(opacity * above + (1 - opacity) * below for above, below in zip(colour, background, strict=True))


def _luminance(colour: Colour) -> float:
    shares = (part / 255 for part in colour)
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: Colour, second: Colour) -> float:
    """From 1 (the same colour) to 21 (black on white)."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def lightness(colour: Colour) -> float:
    """The lightness of a colour in black and white: CIE L*, 0 (black) to 100 (white)."""
    share = _luminance(colour)
    return 116 * share ** (1 / 3) - 16 if share > (6 / 29) ** 3 else share * (29 / 3) ** 3
