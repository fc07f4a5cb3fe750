"""The base layout of all figures: margins, background, letters, legend, and an axis."""

from typing import TYPE_CHECKING, Any

from viz.figures.palette import GREY, INK, rgba

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SMALL = 12
"""The smallest text of a figure, in pixels."""
LETTERS = {"size": SMALL, "color": INK}
"""Font of a figure: Streamlit's own grey for axes and notes is too faint on a light page, 3.7 : 1."""
GRID = rgba(GREY, 0.2)


def base_layout(height: int, **more: Any) -> dict[str, Any]:
    """The layout every figure starts from: as high as said, without a background, its legend in a row above it."""
    return {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": LETTERS,
        "legend": {"orientation": "h", "traceorder": "normal", "y": 1.02, "yanchor": "bottom", "x": 0},
    } | more


def axis(title: str, *, grid: bool = False, limits: tuple[float, float] | None = None, **more: Any) -> dict[str, Any]:
    """An axis with its title."""
    lines = {"gridcolor": GRID} if grid else {"showgrid": False}
    ends = {"range": list(limits)} if limits else {}
    letters = {"title": {"text": title, "font": {"color": INK}}, "tickfont": {"color": INK}}
    return letters | {"automargin": True} | lines | ends | more


ROOM = 24
"""The smallest text of a figure in front of a class."""
TALLER = 1.25
"""Factor for the height of a figure there: letters grow more than that, or it would not fit on the screen."""


def larger(fig: "Figure") -> None:
    """Make every text of a figure as large as it must be in front of a class."""
    letters = {"title_font_size": ROOM, "tickfont_size": ROOM}
    height = round(fig.layout.height * TALLER)
    fig.update_layout(height=height, font_size=ROOM, legend_font_size=ROOM, hoverlabel_font_size=ROOM)
    fig.update_xaxes(**letters).update_yaxes(**letters)
