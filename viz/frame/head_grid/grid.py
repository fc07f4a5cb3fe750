"""The head grid on a page: every head as a small map, one of them large, and the user's choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from viz.components.head_grid import SORTS, Packed
from viz.components.kinds import Fields, Integer, Many, OneOf, Optional, Real
from viz.components.view import View
from viz.frame import specs
from viz.frame.compute import head_grid
from viz.frame.examples import examples, pairs
from viz.frame.scene import Scene
from viz.frame.shared import COLDEST, HEAD, HOTTEST, KEY, LAYER, QUERY, TEMPERATURE, Places
from viz.params import Choice, Flag, Ints, Parameter

AnyParameter = TypeVar("AnyParameter", bound=Parameter[Any])

SORT = Choice("sort", among=SORTS)
SHOW = Choice("show", among=("all", "layer", "top"))
LOOK = Choice("look", among=("map", "lines", "across"))
WHAT = Choice("what", among=("weights", "scores"))
MERGE, HIDE = Flag("merge"), Flag("hide")
COMBINE = Choice("combine", among=("one", "mean", "max"))
SEVERAL = Ints("several", high=lambda n_all_heads: n_all_heads - 1)
BROWSER_PARAMETERS: Mapping[str, Parameter[Any]] = {
    parameter.name: parameter
    for parameter in (LAYER, HEAD, QUERY, KEY, TEMPERATURE, SORT, SHOW, LOOK, COMBINE, SEVERAL)
}
"""The parameters that the browser sends, by name."""
CHOICE = Fields(
    **dict.fromkeys(("layer", "head"), Optional(Integer())),
    **dict.fromkeys(("query", "key"), Optional(Integer(-1))),
    temperature=Optional(Real(COLDEST, HOTTEST)),
    **{choice.name: Optional(OneOf(*choice.options())) for choice in (SORT, SHOW, LOOK, COMBINE)},
    several=Optional(Many(Integer(), 10_000)),
)
VIEW = View("head_grid/head_grid", words="head_grid.", sends={"choice": CHOICE}, colours=True)
NUMBERS = View("head_grid/head_grid")
"""The same view, which keeps numbers until its words and choices come."""


@dataclass(frozen=True, kw_only=True)
class GridChoice:
    """The choice in the grid: a head, and the query and the key that are locked, if any.

    ``query`` and ``key`` count the rows and columns of the view (merged and hidden tokens taken into account);
    None where nothing is locked, or what is locked is hidden. In the link they count the text's tokens.
    """

    layer: int
    head: int
    query: int | None
    key: int | None
    temperature: float


def view_controls(scene: Scene) -> specs.View:
    """Draw a chip with the view options of a map and their effects."""
    t, what, merge, hide = scene.t, WHAT.read(), MERGE.read(), HIDE.read()
    with scene.chips.add_setting():
        WHAT.segments(t("view.what"), says=lambda code: t(f"view.{code}"), help=t("view.what_help"))
        MERGE.toggle(t("view.merge"), help=t("view.merge_help"))
        HIDE.toggle(t("view.hide"), help=t("view.hide_help"))
        if merge and what == "weights":
            st.caption(t("view.merge_says"))
        if hide and what == "weights":
            st.caption(t("view.hide_says"))
    return specs.View(what=what, merge=merge, hide=hide)


def opening_query(scene: Scene) -> int:
    """The query that is locked until the user chooses another: an example says which."""
    source, labels = scene.choice.source, scene.capture.queries.labels
    ours = (source.text, source.target)
    words = (example.query for example in (*examples(), *pairs()) if (example.text, example.target) == ours)
    return next((labels.index(word) for word in words if word in labels), -1)


def _parameters(scene: Scene, channel: str) -> dict[str, Any]:
    """Declare the grid's parameters."""
    rows, columns = scene.capture.queries.labels, scene.labels
    n_layers, n_heads = scene.capture.n_layers, scene.capture.n_heads
    of_channel = partial(_of_channel, channel)
    query, key = (
        Places(words, first, range(-1, len(words))) for words, first in ((rows, opening_query(scene)), (columns, -1))
    )
    return {
        # A decoder may have fewer layers than its encoder.
        "layer": min(scene.choice.layer, n_layers - 1),
        "head": HEAD.read(n_heads),
        "query": of_channel(QUERY).read(query),
        "key": of_channel(KEY).read(key),
        "several": of_channel(SEVERAL).read(n_layers * n_heads),
        **{parameter.name: of_channel(parameter).read() for parameter in (TEMPERATURE, SORT, SHOW, LOOK, COMBINE)},
    }


def _of_channel(channel: str, parameter: AnyParameter) -> AnyParameter:
    """Return a choice's parameter; that of the grid of two texts has a prefix.

    The head is one for all grids of a page, which show the same heads at work.
    """
    name = f"{channel}_{parameter.name}"
    return parameter if channel == "grid" or parameter in (LAYER, HEAD) else parameter.variant(name=name)


def _choose(channel: str, numbers: Sequence[int], choice: Mapping[str, Any]) -> None:
    """Set the parameters from the browser's choice; the next run validates them.

    The browser counts the layers that attend; ``numbers`` are the model's own, where these differ.
    """
    for name, value in choice.items():
        is_layer_index = name == "layer" and value < len(numbers)
        _of_channel(channel, BROWSER_PARAMETERS[name]).set(numbers[value] if is_layer_index else value)


def _head(scene: Scene, view: specs.View, wall: Packed, choice: Mapping[str, Any]) -> Packed:
    """Return the data of the large map beside the wall."""
    source, mask, layer, H = scene.choice.source, scene.choice.mask, choice["layer"], scene.capture.n_heads
    if wall.pool > 1 and choice["combine"] != "one" and view.what == "weights":
        several: Sequence[int] = choice["several"] or range(layer * H, (layer + 1) * H)
        together = frozenset(divmod(head, H) for head in several)
        return head_grid.combined(source, together, choice["combine"], mask, view)
    return head_grid.head_scores(source, layer, choice["head"], mask, view)


def grid(scene: Scene, view: specs.View) -> GridChoice:
    """Show every head of the capture at once, and return the user's choice.

    A page may have two: one of a text by itself, and one of two texts, whose maps have as many rows as the one that
    asks has tokens, and as many columns as the one that answers.
    """
    source, mask, channel = scene.choice.source, scene.choice.mask, scene.choice.source.channel
    choice = _parameters(scene, channel)
    wall = head_grid.wall(source, mask, view)
    head = _head(scene, view, wall, choice)
    queries, keys = (head_grid.axis(side, view).sent() for side in (scene.capture.queries, scene.capture.tokens))
    query, key = (
        along["of"][choice[name]] if choice[name] >= 0 else -1 for name, along in (("query", queries), ("key", keys))
    )
    flags, links = {"renormalise": view.hide, "plain": not (view.merge or view.hide)}, None
    if wall.pool > 1 and min(query, key) >= 0:
        links = head_grid.links(source, mask, view, query, key)
    with st.container(key=f"{channel}_box", gap=None):
        NUMBERS.mount(key=f"{channel}_wall", data=wall.data)
        NUMBERS.mount(key=f"{channel}_head", data=head.data)
        VIEW.mount(
            key=channel,
            on={"choice": partial(_choose, channel, scene.capture.numbers)},
            data={
                "channel": channel,
                "wall": wall.id,
                "head": head.id,
                "choice": choice,
                "links": links,
                "axes": {"queries": queries, "keys": keys, "same": not scene.capture.is_cross, **flags},
            },
        )
    return GridChoice(
        layer=choice["layer"],
        head=choice["head"],
        temperature=choice["temperature"],
        query=query if query >= 0 else None,
        key=key if key >= 0 else None,
    )
