"""The picture of every head as one HTML file, with the present choice, text and all numbers."""

from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from viz.components import one_file
from viz.components.head_grid import EXACT_BYTES, pool_of
from viz.frame import specs
from viz.frame.compute import head_grid
from viz.frame.head_grid.grid import COMBINE, LOOK, SEVERAL, SHOW, SORT
from viz.frame.scene import Scene, mask_has_effect
from viz.frame.shared import HEAD, KEY, QUERY, TEMPERATURE
from viz.params import Parameter
from viz.params.link import link

GRID_PARAMETERS: tuple[Parameter[Any], ...] = (HEAD, QUERY, KEY, TEMPERATURE, SORT, SHOW, LOOK, COMBINE, SEVERAL)


def _page(
    source: specs.Source,
    mask: specs.Mask,
    view: specs.View,
    choice: dict[str, Any],
    caption: one_file.Caption,
    lang: str,
) -> bytes:
    nobody = one_file.grid_words(lang)["around"]["nobody"]
    return one_file.page(head_grid.away(source, mask, view, nobody), choice, caption, lang).encode()


def _grid_selection(layer: int) -> dict[str, Any]:
    """The grid's selection, as :class:`viz.notebook.widget.HeadGrid` has it: None where nothing is locked."""
    selection = {parameter.name: parameter.value for parameter in GRID_PARAMETERS}
    # Seeded heads have no layer to choose.
    selection["layer"] = layer
    return selection | {name: None if selection[name] < 0 else selection[name] for name in (QUERY.name, KEY.name)}


def _caption(scene: Scene) -> one_file.Caption:
    t, choice, capture = scene.t, scene.choice, scene.capture
    source = choice.source
    sizes = {"layers": capture.n_layers, "heads": capture.n_heads, "n": len(scene.labels)}
    kind = "model" if source.kind == "model" else "seeded"
    masked = [t(f"note.mask_{kind}", mask=t(f"mask.{choice.mask.kind}"))] if mask_has_effect(scene) else []
    sinks = [t("note.sink")] if any(call.options.get("sink") is not None for call in capture.calls) else []
    today = t("take_away.saved", date=datetime.now(UTC).date().isoformat())
    return one_file.Caption(
        title=t("take_away.title", model=source.model) if source.model else t("take_away.heads"),
        text=source.text,
        facts=(t(f"source.{source.kind}"), t("take_away.layers", **sizes), *masked, *sinks, today),
        link=f"{(st.context.url or '').partition('?')[0]}?{urlencode(link())}",
    )


def longest(n_heads: int) -> int:
    """The most tokens of which so many heads go into a file exactly."""
    return int((EXACT_BYTES / 2 / n_heads) ** 0.5)


def offer(scene: Scene, view: specs.View) -> None:
    """A button that saves the page; the file is built when it is asked for."""
    t, choice, capture = scene.t, scene.choice, scene.capture
    n, n_heads = len(scene.labels), capture.n_layers * capture.n_heads
    if pool_of(n_heads, n, n) > 1:
        st.caption(t("export.page_too_long", n=n, most=longest(n_heads), heads=n_heads))
        return
    request = choice.source, choice.mask, view, _grid_selection(scene.layer_number), _caption(scene), choice.lang
    st.download_button(
        t("export.page"),
        partial(_page, *request),
        "headlight-heads.html",
        "text/html",
        on_click="ignore",
        width="stretch",
    )
    st.caption(t("export.page_says"))
