"""The base layout of all figures: margins, background, letters, legend, and an axis."""

from typing import Any

from viz.figures.palette import GREY, INK, rgba

Figure = dict[str, Any]

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


def colour_bar(**more: Any) -> dict[str, Any]:
    """The scale of a map's colours, at its right."""
    return {"thickness": 10, "len": 0.9, "tickfont": LETTERS} | more


ROOM = 24
"""The smallest text of a figure in front of a class."""
TALLER = 1.25
"""Factor for the height of a figure there: letters grow more than that, or it would not fit on the screen."""
_WRITES = ("font", "tickfont", "textfont", "insidetextfont", "outsidetextfont", "grouptitlefont", "title_font")


def larger(fig: Figure, *, times: float = ROOM / SMALL, taller: float = TALLER) -> Figure:
    """A figure whose every text is so many times as large; what it does not say is as large as the rest."""
    layout = _scale_letters(fig.get("layout", {}), times)
    layout["font"] = {"size": ROOM} | layout.get("font", {})
    letters = {"size": layout["font"]["size"]}
    for name in [name for name in layout if name.startswith(("xaxis", "yaxis", "coloraxis"))] + [
        "legend",
        "hoverlabel",
    ]:
        part = dict(layout.get(name) or {})
        if name.startswith("coloraxis"):
            part["colorbar"] = _axis(dict(part.get("colorbar") or {}), letters)
        elif name in ("legend", "hoverlabel"):
            part["font"] = letters | dict(part.get("font") or {})
        else:
            part = _axis(part, letters)
        layout[name] = part
    if "height" in layout:
        layout["height"] = round(layout["height"] * taller)
    return {**fig, "data": [_scale_letters(trace, times) for trace in fig.get("data", ())], "layout": layout}


def _axis(part: dict[str, Any], letters: dict[str, Any]) -> dict[str, Any]:
    """An axis or a colour bar: its ticks, and its title."""
    part["tickfont"] = letters | dict(part.get("tickfont") or {})
    title = part.get("title")
    if isinstance(title, str):
        title = {"text": title}
    if title:
        part["title"] = {**title, "font": letters | dict(title.get("font") or {})}
    return part


def _scale_letters(value: Any, times: float) -> Any:
    """The same with every size of letters multiplied; arrays and lists of numbers are shared, not copied."""
    if isinstance(value, dict):
        return {
            name: {**part, "size": part["size"] * times}
            if name in _WRITES and isinstance(part, dict) and isinstance(part.get("size"), int | float)
            else _scale_letters(part, times)
            for name, part in value.items()
        }
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return [_scale_letters(part, times) for part in value]
    return value
