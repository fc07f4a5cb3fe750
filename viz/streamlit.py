"""Head grids and matrices in anybody's Streamlit app: ``import headlight_viz.streamlit as hl``."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import streamlit as st
import torch

from viz.components import bundle
from viz.components.kinds import Integer, Many
from viz.components.matrix import Axis, Kind, Matrix, pack_matrix
from viz.components.one_file import VIEW, grid_words
from viz.components.take_away import PooledStack, payload
from viz.components.view import palette
from viz.notebook.files import with_heads
from viz.notebook.show import Picture, read_picture
from viz.params.session import sent_by_widget
from viz.text import words_of

AS_COMPONENT = """
const $views = new WeakMap(), $PICKED = ["stack", "layer", "head", "query", "key"];
const $FIRST = { temperature: 1, sort: "model", show: "all", look: "map", combine: "one" };
const $open = (own, data, { id, words, picked }, before) => {
  const root = own.shadowRoot ?? own.attachShadow({ mode: "open" }), place = document.createElement("div");
  const state = { ...$FIRST, ...before?.state, ...picked, several: [], data, words };
  const choice = () => Object.fromEntries($PICKED.map((name) => [name, state[name]]));
  const view = { id, state }, isNew = () => view.now !== (view.now = JSON.stringify(choice()));
  const save_changes = () => isNew() && view.send("picked", choice());
  isNew();
  before?.close();
  root.append(place);
  const model = { get: (name) => state[name], set: (name, value) => (state[name] = value), on() {}, off() {} };
  const end = $dressed({ parentElement: place, data: { ...model, save_changes } });
  return Object.assign(view, { close: () => (end(), place.remove()) });
};
export default ({ parentElement: own, data, setStateValue: send }) => {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true), before = $views.get(own);
  const { app } = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const view = Object.assign(before?.id === app.id ? before : $open(own, data, app, before), { send });
  $views.set(own, view);
  return () => (view.close(), $views.delete(own));
};
"""
"""The grid of a notebook, with Streamlit in the place of its model."""

_alone = Lock()
"""A model that is asked for its weights computes otherwise meanwhile, and all users of an app share it."""


@dataclass(frozen=True)
class Choice:
    """The head that is shown large, and the tokens that are locked in its rows and columns, or None."""

    stack: str
    layer: int
    head: int
    query: int | None = None
    key: int | None = None


def heads(model: Any, tokens: Any, text: Any = None, *, key: str, target: Any = None, lang: str = "en") -> Choice:
    """Draw the head grid of a model, or of attentions; return what is chosen in it. A click there runs the app again.

    A model reads a text once, for all users of an app: keep it in Streamlit's cache of resources, and call ``forget()``
    when its weights have changed. ``key`` names this place in the app; the rest, and errors, are as of ``hl.show``.
    """
    with _alone:
        read = _read if isinstance(text, str) else _read.__wrapped__
        picture = read(model, tokens, text, target, lang)
        choice = _as_picked(picture, sent_by_widget(key))
        is_pooled = any(isinstance(stack, PooledStack) for stack in picture.stacks)
        data = _packed(picture, (choice.stack, choice.layer, choice.head) if is_pooled else None)
    app = {"id": hash(data), "picked": vars(choice), "words": grid_words(lang)}
    end = 4 + int.from_bytes(data[:4], "little")
    header = json.dumps(json.loads(data[4:end]) | {"app": app}).encode()
    data = len(header).to_bytes(4, "little") + header + data[end:]
    result = _component("heads", VIEW, AS_COMPONENT)(key=key, data=data, on_picked_change=lambda: None)
    for fact in picture.caption.facts:
        st.caption(fact)
    return _as_picked(picture, result)


# For all users of an app.
@lru_cache(maxsize=8)
def _read(model: Any, tokens: Any, text: Any, target: Any, lang: str) -> Picture:
    return read_picture(model, tokens, text, target=target, layers=None, q=None, k=None, lang=lang, title="")


forget = _read.cache_clear


@lru_cache(maxsize=8)
def _packed(picture: Picture, place: tuple[str, int, int] | None) -> bytes:
    """Return a picture for the browser; where there are many heads, this one is whole."""
    places = [place] if place else []
    return payload([with_heads(stack, places) if isinstance(stack, PooledStack) else stack for stack in picture.stacks])


def matrix(
    values: Any, rows: Sequence[str], columns: Sequence[str], *, key: str, kind: Kind = "weights", lang: str = "en"
) -> tuple[int, int] | None:
    """Draw a matrix (rows, columns) of queries and keys; return the row and column that were clicked, if any were.

    Of the kinds "weights" is 0 to 1, "signed" is coloured around 0, and "sizes" goes from 0 to the largest.

    Raises:
        ValueError: if there are not as many names as rows and columns.
    """
    table, axes = torch.as_tensor(values, dtype=torch.float32), words_of(lang, "axis")
    if tuple(table.shape) != (len(rows), len(columns)):
        raise ValueError(f"values of {tuple(table.shape)} have {len(rows)} row names and {len(columns)} column names")
    picture = Matrix(values=table, rows=Axis(rows, axes["queries"]), columns=Axis(columns, axes["keys"]), kind=kind)
    number = _state(sent_by_widget(key), "chosen").get("sent", 0)
    words = {"alt": f"{axes['queries']}, {axes['keys']}"}
    data = pack_matrix(
        picture, head_hues=palette()["heads"], chooses=True, sent=number, hues=dict(palette()), words=words
    )
    result = _component("matrix", "matrix/matrix", bundle.IN_SHADOW_ROOT)(
        key=key, data=data, on_chosen_change=lambda: None
    )
    try:
        row, column = Many(Integer(), most=2, least=2)(_state(result, "chosen").get("value"))
    except ValueError:
        return None
    return (row, column) if row < len(rows) and column < len(columns) else None


@cache
def _component(name: str, view: str, start: str) -> Any:
    return st.components.v2.component(f"headlight_{name}", js=bundle.dressed(view) + start, isolate_styles=False)


def _state(component: Any, name: str) -> Mapping[str, Any]:
    """Return a component's state, which may be anything that a browser sends."""
    value = component.get(name) if isinstance(component, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _as_picked(picture: Picture, component: Any) -> Choice:
    """Return what is chosen in the browser; the first head if the picture has no such thing."""
    state, first = _state(component, "picked"), picture.stacks[0]
    stack, layer, *places = (state.get(name) for name in ("stack", "layer", "head", "query", "key"))
    maps = picture.maps.get(stack) if isinstance(stack, str) else None
    if maps and type(layer) is int and layer in maps.layers:
        fits = (n is None or (type(n) is int and 0 <= n < most) for n, most in zip(places, maps.shape, strict=True))
        if all(fits) and (head := places.pop(0)) is not None:
            return Choice(str(stack), layer, head, *places)
    return Choice(first.name, first.numbers[0], 0)
