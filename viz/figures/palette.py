"""The colours of every picture, the same on light and dark pages and for colour-blind eyes.

A value is drawn as one hue over the page's own background, and its size is the opacity: no theme is baked in.
Blue is positive (and weights), orange is negative; the pair stays apart for all common kinds of colour blindness.
"""

from html import escape

from viz.text import isolate

BLUE = (46, 120, 240)
ORANGE = (226, 116, 20)
GREY = (128, 132, 140)
INK = "#000037"
"""Streamlit puts its theme's own strong grey for this one: dark on light pages, light on dark ones."""
HEADS = (
    (46, 120, 240),
    (226, 116, 20),
    (108, 161, 94),
    (209, 112, 196),
    (165, 31, 187),
    (197, 77, 112),
    (75, 121, 87),
    (147, 105, 200),
    (137, 108, 3),
    (246, 25, 62),
    (88, 145, 252),
    (49, 175, 130),
)
"""One hue a head, repeated beyond twelve.

Blue and orange were given; the others were searched for the largest smallest distance between any two of them, as eyes
without one kind of cone see them, the first four and eight farthest apart, and 3 : 1 on both pages (the last: 2.7).
"""

DASHES = ("solid", "dash", "dot", "longdash", "dashdot", "longdashdot")
"""The lines of a chart differ in dash as well as in hue."""
STOPS = 16


def rgba(hue: tuple[int, int, int], opacity: float) -> str:
    """A CSS colour."""
    return f"rgba({hue[0]},{hue[1]},{hue[2]},{opacity:.3f})"


def series_style(i: int) -> tuple[tuple[int, int, int], str]:
    """The hue and the dash of a chart's i-th line."""
    return HEADS[i % len(HEADS)], DASHES[i % len(DASHES)]


def weights_scale() -> list[list[float | str]]:
    """0 to 1: opacity is the square root of the weight, so that small shares are still seen."""
    return [[i / STOPS, rgba(BLUE, (i / STOPS) ** 0.5)] for i in range(STOPS + 1)]


def plain(text: str) -> str:
    """A user's token as a plotly label, shown literally.

    Plotly would read tags and entities, and Streamlit replaces #000001 and its like by theme colours.

    Example:
        >>> plain("<b>#000001")
        '&lt;b&gt;&#35;000001'
    """
    return escape(isolate(text), quote=False).replace("#", "&#35;").replace("$", "&#36;").replace("\n", " ")
