"""A large figure for close work, with plotly's zoom, pan, selection and comparison: of a map, bars, lines or points.

plotly is imported with the first figure. The browser's menu opens any picture of the app so
(:mod:`viz.frame.large_figure`); notebooks call :func:`heat_map`.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viz.figures.layout import LETTERS, axis, base_layout, colour_bar
from viz.figures.palette import BLUE, GREY, plain, rgba, scores_scale, series_style, weights_scale
from viz.figures.plotly_figure import load_plotly
from viz.figures.table import Scale, Side, Table
from viz.text.sizes import size

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ACROSS = 2
"""Maps beside each other; more stand below."""
SINGLE, SEVERAL, BETWEEN, APART, TOP = 560, 380, 50, 130, 40
"""Heights in pixels: of a single picture, of one of several, of the room between two (with the names of columns, where
these differ), and of a row of buttons."""
BAR = 220
"""Pixels of a scale of colours."""
MANY = 60
"""A line with more places is drawn without a dot at each."""
TOOLS = {
    "add": ["v1hovermode", "togglespikelines", "select2d", "lasso2d"],
    "bgcolor": "rgba(0,0,0,0)",
    "color": rgba(GREY, 1),
    "activecolor": rgba(BLUE, 1),
}
LEGEND = {"orientation": "h", "traceorder": "normal", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"}
"""Below the picture: above it are its name and the buttons."""
MARGIN = 0.05
"""The share of the axis that plotly leaves free at either end."""
MOST = 16
"""Twice as many ticks as in the browser's own charts (``client/plot/ticks.js``): a large figure is zoomed."""
DOUBLINGS = (1, 2, 5, 10, 20)
LARGEST = 2.0**90
"""A browser's message may hold any number; beyond this one no unit has a name."""
CELL = "%{y} → %{x}: <b>%{z:.6~g}</b><extra></extra>"


def heat_map(
    values: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, row_title: str = "", column_title: str = ""
) -> "Figure":
    """Return a map of (rows, columns) as a figure.

    Example:
        >>> figure = heat_map([[1.0, 0.0], [0.25, 0.75]], ["a", "b"], ["a", "b"])
        >>> figure.data[0].z.tolist()
        [[1.0, 0.0], [0.25, 0.75]]
    """
    x, y = Side(title=column_title), Side(title=row_title)
    return figure_of([Table(kind="map", values=np.asarray(values), names=rows, columns=columns, x=x, y=y)])


def figure_of(tables: Sequence[Table], *, select: str = "") -> "Figure":
    """Return a figure with a picture for each table; maps of the same rows and columns are zoomed together.

    ``select`` labels a button by which places are selected: Streamlit removes plotly's own.

    Raises:
        ImportError: if plotly is not installed.
    """
    load_plotly()
    from plotly.subplots import make_subplots

    are_alike = all(_are_alike(tables[0], table) for table in tables)
    scales = _scales(tables)
    different = list(dict.fromkeys(filter(None, scales)))
    across = min(len(tables), ACROSS) if are_alike and len(different) == 1 else 1
    down = -(-len(tables) // across)
    height = SINGLE if down == 1 else SEVERAL * down
    figure = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[plain(table.title) for table in tables] if len(tables) > 1 else None,
        vertical_spacing=(BETWEEN if are_alike else APART) / height if down > 1 else 0,
    )
    n_series = 0
    for at, (table, scale) in enumerate(zip(tables, scales, strict=True)):
        place = {"row": at // across + 1, "col": at % across + 1}
        for trace in _traces(table, n_series, _numbered("coloraxis", different.index(scale) if scale else 0)):
            figure.add_trace(trace, **place)
            n_series += table.kind != "map"
        first = next(i for i, earlier in enumerate(tables) if _are_alike(earlier, table))
        x, y = _axes(table, first if first < at else None)
        if are_alike and len(tables) > 1:
            # The names of columns stand below the lowest of several maps alone, those of rows beside the first.
            for side, is_named in ((x, at + across >= len(tables)), (y, at % across == 0)):
                side.update({"showticklabels": is_named} | ({} if is_named else {"title": None}))
        figure.update_xaxes(x, **place)
        figure.update_yaxes(y, **place)
    # Lines and bars are compared at a place of their axis.
    hover = "x" if all(table.kind in ("lines", "bars") for table in tables) else "closest"
    layout = base_layout(height, showlegend=n_series > 1, legend=LEGEND, modebar=TOOLS, hovermode=hover)
    has_button = bool(select and n_series)
    layout["margin"] |= {"t": 2 * TOP if has_button or len(tables) > 1 else TOP}
    layout |= {"updatemenus": [_toggle(select)]} if has_button else {}
    for number, scale in enumerate(different):
        top = figure.layout[_numbered("yaxis", scales.index(scale))].domain[1]
        layout[_numbered("coloraxis", number)] = _colours(scale, top=top)
    return figure.update_layout(layout)


def _numbered(name: str, at: int) -> str:
    """A part of a layout as plotly calls it: the first has no number."""
    return f"{name}{at + 1}" if at else name


def _toggle(label: str) -> dict[str, Any]:
    """A button above the picture: dragging selects; pressed again, it zooms."""
    ways = {"args": [{"dragmode": "select"}], "args2": [{"dragmode": "zoom"}]}
    button = {"label": plain(label), "method": "relayout"} | ways
    place = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 6}}
    return {"type": "buttons", "showactive": False, "buttons": [button], "font": LETTERS} | place


def _are_alike(table: Table, second: Table) -> bool:
    """Return whether two maps have the same rows and columns; anything else is like itself alone."""
    both_maps = table.kind == second.kind == "map"
    return table is second or (both_maps and (table.names, table.columns) == (second.names, second.columns))


def _traces(table: Table, n_before: int, colours: str) -> Iterator[dict[str, Any]]:
    """The traces of one picture; a map is in these colours, and so many series before it have taken theirs."""
    if table.kind == "map":
        yield {
            "type": "heatmap",
            "name": plain(table.title),
            "z": table.values,
            "x": _places(table.columns),
            "y": _places(table.names),
            "coloraxis": colours,
            "hovertemplate": CELL,
        }
    elif table.kind == "bars":
        for at, (name, heights) in enumerate(zip(table.columns, table.values.T, strict=True), n_before):
            colour = rgba(series_style(at)[0], 1)
            bars = {"type": "bar", "name": plain(name), "x": _places(table.names), "y": heights}
            yield bars | {"marker": {"color": colour}, "hovertemplate": "%{y:.6~g}"}
    else:
        for at, (name, rows) in enumerate(_series(table), n_before):
            yield _line(table, name, rows, at)


def _series(table: Table) -> Iterator[tuple[str, slice]]:
    """The lines or clouds of a table: neighbours of the same name."""
    start = 0
    for name, rows in groupby(table.names):
        end = start + sum(1 for _ in rows)
        yield name, slice(start, end)
        start = end


def _line(table: Table, name: str, rows: slice, at: int) -> dict[str, Any]:
    """One line, or the dots of one."""
    (x, y), notes = table.values[rows].T, table.notes[rows]
    hue, dash = series_style(at)
    is_dots = table.kind == "points" or name in table.dots
    label = {"text": [plain(note) for note in notes]} if any(notes) else {}
    sizes = {"customdata": [size(count) for count in y]} if table.y.in_bytes else {}
    height = "%{customdata}" if sizes else "%{y:.6~g}"
    return (
        {
            "type": "scatter",
            "mode": "markers" if is_dots else "lines+markers" if len(x) <= MANY else "lines",
            "name": plain(name),
            "x": x,
            "y": y,
            "line": {"color": rgba(hue, 1), "dash": dash},
            "marker": {"color": rgba(hue, 0.8)},
            "hovertemplate": f"{'%{text}<br>' if label else ''}(%{{x:.6~g}}, {height})",
        }
        | label
        | sizes
    )


def _places(names: Sequence[str]) -> list[str]:
    """A category for each name: equal names are different places."""
    return [str(i) for i in range(len(names))]


def _labels(names: Sequence[str], notes: Sequence[str] = ()) -> dict[str, Any]:
    """An axis of places, each with its name in place of its number; plotly leaves out those without room."""
    texts = [" · ".join(filter(None, pair)) for pair in zip(names, notes or [""] * len(names), strict=True)]
    return {"type": "category", "labelalias": {str(i): plain(name) for i, name in enumerate(texts)}}


def _axes(table: Table, alike: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two axes of a picture; those of a map go with the axes of an earlier one that is like it."""
    x_title, y_title = plain(table.x.title), plain(table.y.title)
    if table.kind == "map":
        x, y = _labels(table.columns), _labels(table.names) | {"autorange": "reversed"}
        if alike is not None:
            x["matches"], y["matches"] = _numbered("x", alike), _numbered("y", alike)
        return axis(x_title, **x), axis(y_title, **y)
    if table.kind == "bars":
        return axis(x_title, **_labels(table.names, table.notes)), axis(y_title, grid=True)
    x, y = table.values.T
    return _even(table.x, x_title, x), _even(table.y, y_title, y)


def _even(side: Side, title: str, values: NDArray[Any]) -> dict[str, Any]:
    direction = "reversed" if side.reversed else True
    names = named_byte_ticks(values, log=side.log) if side.in_bytes else {}
    return axis(title, grid=True, zeroline=False, type="log" if side.log else "linear", autorange=direction, **names)


def _scales(tables: Sequence[Table]) -> list[Scale | None]:
    """Return where the colours of each map begin and end: all signed maps share it, all shares, and all other sizes."""
    scales = [_scale(table) for table in tables]
    widest: dict[str, float] = {}
    for scale in filter(None, scales):
        widest[_kind(scale)] = max(scale[1], widest.get(_kind(scale), 0.0))
    shared = {"signed": -1.0, "sizes": 0.0, "shares": 0.0}
    return [
        table.scale or (scale and (shared[_kind(scale)] * widest[_kind(scale)], widest[_kind(scale)]))
        for table, scale in zip(tables, scales, strict=True)
    ]


def _scale(table: Table) -> Scale | None:
    """Return the scale of one map: around 0 if some numbers are negative, else from 0 to 1, or to the largest."""
    if table.kind != "map":
        return None
    finite = table.values[np.isfinite(table.values)]
    largest = float(np.abs(finite).max(initial=0)) or 1.0
    return (-largest, largest) if (finite < 0).any() else (0.0, max(1.0, largest))


def _kind(scale: Scale) -> str:
    low, high = scale
    return "signed" if low < 0 else "sizes" if high > 1 else "shares"


def _colours(scale: tuple[float, float], *, top: float) -> dict[str, Any]:
    """A scale of colours, and its bar beside the first map that has it."""
    low, high = scale
    bar = colour_bar(len=BAR, lenmode="pixels", y=top, yanchor="top")
    return {"cmin": low, "cmax": high, "colorscale": scores_scale() if low < 0 else weights_scale(), "colorbar": bar}


def byte_ticks(low: float, high: float, *, log: bool = False) -> list[float]:
    """Return multiples of a power of two between two sizes; on a logarithmic axis powers, whole doublings apart."""
    start, end = (math.log2(low), math.log2(high)) if log else (low, high)
    rough = (end - start) / MOST
    if log:
        step: float = next((doublings for doublings in DOUBLINGS if doublings >= rough), 50)
    else:
        step = 2.0 ** math.ceil(math.log2(max(rough, 1)))
    places = [i * step for i in range(math.ceil(start / step - 1e-6), math.floor(end / step + 1e-6) + 1)]
    return [2.0**place for place in places] if log else places


def named_byte_ticks(values: NDArray[Any], *, log: bool) -> dict[str, Any]:
    """Return the ticks of an axis for these values, as plotly takes them; none without a size that can be drawn."""
    sizes = values[(values >= (1 if log else 0)) & (values <= LARGEST)].astype(float)
    if not sizes.size:
        return {}
    low, high = float(sizes.min()), float(sizes.max())
    free = (high / low) ** MARGIN if log else MARGIN * (high - low)
    marks = byte_ticks(low / free, high * free, log=True) if log else byte_ticks(max(0.0, low - free), high + free)
    return {"tickmode": "array", "tickvals": marks, "ticktext": [size(mark) for mark in marks]}
