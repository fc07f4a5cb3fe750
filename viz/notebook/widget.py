"""The grid as a widget: Jupyter, VS Code, Colab and marimo show it, and Python reads what is chosen in it."""

import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anywidget
import numpy as np
import traitlets

from viz.components import bundle, one_file
from viz.components.head_grid import SORTS
from viz.components.take_away import PooledStack, Stack, packed_head, payload
from viz.figures.heat_map import heat_map
from viz.notebook.answers import answer_request
from viz.notebook.device import on_processor
from viz.notebook.files import file_at, megabytes, no_head, places_of, pooled_fact, size_facts, with_heads, write_file
from viz.notebook.maps import Maps
from viz.notebook.still import LONGEST, Place, cut, describe, still_html
from viz.text import fill, words_of

if TYPE_CHECKING:
    from viz.figures.plotly_figure import Figure

MOST_FILE_BYTES = 50_000_000
"""Of a saved file with every head whole; a mail program takes half of that, and a browser opens it in seconds."""


class ChoiceError(traitlets.TraitError, ValueError):
    """A choice that the maps do not have."""


CHOICE = ("stack", "layer", "head", "query", "key", "temperature", "sort", "show", "look", "combine", "several")
RENDER = """
const render = ({ model, el }) => {
  const host = document.createElement("div"), place = document.createElement("div");
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys
  const rule = `.headlight-${model.get("mark")} { display: none }`; // the still picture of readers without a kernel
  document.head.append(Object.assign(document.createElement("style"), { textContent: rule }));
  host.attachShadow({ mode: "open" }).append(place); // our style is ours, the notebook's is its own
  el.append(host);
  for (const note of model.get("notes") ?? []) {
    const line = document.createElement("p");
    [line.className, line.textContent, line.dir] = ["note", note, "auto"];
    line.style.cssText = "margin: 0.25rem 0 0; font: 0.85rem/1.4 system-ui, sans-serif";
    el.append(line);
  }
  return $dressed({ parentElement: place, data: model });
};
export default { render };
"""


class HeadGrid(anywidget.AnyWidget):
    """Every head of a model on one text.

    ``stack``, ``layer`` and ``head`` are the head that is shown large; ``query`` and ``key`` the tokens that are locked
    in its rows and columns, or None; ``temperature`` what its scores are divided by. All can be read, set, observed.
    ``weights`` are those of that head, as numpy has them. Layers have the numbers they have in their model; ``notes``
    say what has to be known of the maps: what was left out, and where a row does not sum to 1.
    """

    _esm = bundle.dressed(one_file.VIEW) + RENDER
    data = traitlets.Bytes().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    stack = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(None, allow_none=True).tag(sync=True)
    key = traitlets.Int(None, allow_none=True).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    sort = traitlets.Enum(SORTS, "model").tag(sync=True)
    show = traitlets.Enum(["all", "layer", "top"], "all").tag(sync=True)
    look = traitlets.Enum(["map", "lines", "across"], "map").tag(sync=True)
    combine = traitlets.Enum(["one", "mean", "max"], "one").tag(sync=True)
    notes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    mark = traitlets.Unicode().tag(sync=True)
    several = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(
        self,
        stacks: Sequence[Stack],
        maps: Mapping[str, Maps],
        *,
        lang: str,
        caption: one_file.Caption,
        words: Mapping[str, Any] | None = None,
        **choice: Any,
    ) -> None:
        self._maps, self._lang, self._caption = dict(maps), lang, caption
        self._stacks = list(stacks)
        first = stacks[0].name
        default = {"stack": first, "layer": next(iter(maps[first].layers)), "notes": list(caption.facts)}
        self._axes = {stack.name: (stack.queries.labels, stack.keys.labels) for stack in stacks}
        words = dict(words or one_file.grid_words(lang))
        initial_choice = default | choice
        data, mark = payload(self._with_exact(self._existing(initial_choice))), secrets.token_hex(6)
        super().__init__(data=data, words=words, mark=mark, **initial_choice)
        self.on_msg(self._answer)

    @on_processor()
    def _lines(self) -> list[str]:
        """The grid in words: a title, sizes, the chosen head, notes."""
        around, place = self.words["around"], (self.stack, self.layer, self.head)
        title, text = self._caption.title, cut(self._caption.text, LONGEST)
        return [title, *filter(None, [text]), *describe(self._maps, self._axes, place, around), *self.notes]

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    @on_processor()
    def _repr_mimebundle_(self, **_options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        place = (self.stack, self.layer, self.head)
        html = still_html(self._maps, self._axes, place, self._lines(), marker=f"headlight-{self.mark}")
        data, metadata = super()._repr_mimebundle_() or ({}, {})
        return {**data, "text/html": html}, metadata

    def _ipython_display_(self, **_options: Any) -> None:
        """Send the live grid, then the still one: of one output nbconvert would take the live one, and other hosts."""
        from IPython.display import display

        data, metadata = self._repr_mimebundle_()
        title, _, words = data["text/plain"].partition("\n")
        still = {"text/html": data.pop("text/html"), "text/plain": words}
        display({**data, "text/plain": title}, metadata=metadata, raw=True)
        display(still, raw=True)

    def _existing(self, choice: Mapping[str, Any]) -> list[Place]:
        """Return the chosen head, if there is such a head: a choice is checked where it is set."""
        name, layer, head = _place(choice)
        maps = self._maps.get(name)
        return [(name, layer, head)] if maps and layer in maps.layers and 0 <= head < maps.shape[0] else []

    def _with_exact(self, places: Sequence[Place] | None) -> list[Stack]:
        """Return the stacks with these heads whole, (stack, layer, head), or with all of them."""
        return [with_heads(stack, places) if isinstance(stack, PooledStack) else stack for stack in self._stacks]

    @on_processor()
    def _answer(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Answer a view that asks for numbers which were not sent: a head, several together, or a pair in all heads."""
        request: Mapping[str, Any] = (content.get("request") if isinstance(content, dict) else None) or {}
        stack = next((stack for stack in self._stacks if stack.name == request.get("stack")), None)
        if isinstance(stack, PooledStack):
            answer, buffers = answer_request(stack, request)
            self.send({"request": request, **answer}, buffers)

    @property
    def tokens(self) -> tuple[Sequence[str], Sequence[str]]:
        """Labels along the rows and along the columns of the visible stack."""
        return self._axes[self.stack]

    @property
    def weights(self) -> np.ndarray:
        """The weights of the head that is shown, (queries, keys), float32, at temperature 1."""
        array: np.ndarray = self._maps[self.stack].head(self.layer, self.head).numpy()
        return array.copy()

    @on_processor()
    def figure(self, *, layer: int | None = None, head: int | None = None) -> "Figure":
        """Return a head's map as a figure of plotly's, to zoom, pan and save: its weights at temperature 1.

        Args:
            layer: its number in the model; None is the chosen one.
            head: of the chosen stack; None is the chosen one.

        Raises:
            ValueError: if the stack has no such head.
            ImportError: if plotly is not installed.
        """
        layer, head = self.layer if layer is None else layer, self.head if head is None else head
        maps = self._maps[self.stack]
        if layer not in maps.layers or not 0 <= head < maps.shape[0]:
            raise ValueError(no_head(layer, head, maps.layers, maps.shape[0]))
        rows, columns = self.tokens
        axes = words_of(self._lang, "axis")
        values = maps.head_with_rest(layer, head).numpy()
        return heat_map(values, rows, columns, row_title=axes["queries"], column_title=axes["keys"])

    @traitlets.validate("stack", "layer", "head", "query", "key", "temperature", "several")
    def _possible(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        stack = value if name == "stack" else self.stack
        if stack not in self._maps:
            raise ChoiceError(f"stack={stack!r} is none of {', '.join(self._maps)}.")
        if name == "temperature" and not 0.1 <= value <= 10:
            raise ChoiceError(f"temperature={value} is not from 0.1 to 10.")
        maps = self._maps[stack]
        if name == "layer" and value not in maps.layers:
            with_maps = ", ".join(map(str, maps.layers))
            raise ChoiceError(f"layer={value} has no maps here: the layers that have some are {with_maps}.")
        heads, queries, keys = maps.shape
        limits = {"head": heads, "query": queries, "key": keys, "several": len(maps.layers) * heads}
        numbers = value if name == "several" else [value]
        if name in limits and not all(number is None or 0 <= number < limits[name] for number in numbers):
            raise ChoiceError(f"{name}={value} is not from 0 to {limits[name] - 1}.")
        return value

    @traitlets.observe("stack")
    def _stay_inside(self, _change: Any) -> None:
        """Change a choice that another stack does not have, as the view does: it has fewer layers, heads or tokens."""
        maps = self._maps[self.stack]
        layers, (heads, queries, keys) = tuple(maps.layers), maps.shape
        if self.layer not in layers:
            self.layer = layers[max(0, min(self.layer, len(layers) - 1))]
        self.head = min(self.head, heads - 1)
        self.query = None if self.query is not None and self.query >= queries else self.query
        self.key = None if self.key is not None and self.key >= keys else self.key
        self.several = [head for head in self.several if head < len(layers) * heads]

    @on_processor()
    def save_html(
        self,
        path: str | Path,
        *,
        title: str = "",
        link: str = "",
        heads: Literal["all"] | Iterable[tuple[int, int]] = (),
    ) -> Path:
        """Write the grid, as it is now, as one HTML file that needs no server and no network; gives its path.

        Its size is printed before it is written. Of a stack with which it would be larger than 50 MB it has small maps
        that are pooled, and the chosen head whole.

        Args:
            path: of the file.
            title: above the picture; by default the model's name.
            link: where the same can be seen alive, if it can: http:// or https://.
            heads: (layer, head) of the chosen stack that are to be whole in a large file too; "all" of every stack.

        Raises:
            ValueError: a sentence, if the path names no file, or there is no such head.
            OSError: a sentence, if no file can be there.
        """
        around, file, places = self.words["around"], file_at(path), places_of(heads)
        maps = self._maps[self.stack]
        for layer, head in places:
            if layer not in maps.layers or not 0 <= head < maps.shape[0]:
                raise ValueError(no_head(layer, head, maps.layers, maps.shape[0]))
        exact_heads = self._whole_bytes() if any(isinstance(stack, PooledStack) for stack in self._stacks) else 0
        is_pooled, facts = exact_heads > MOST_FILE_BYTES and heads != "all", list(self.notes)
        data, exact = self.data, self._with_exact(None)
        if exact_heads:
            facts = [fact for fact in facts if fact != around["note_opened"]]
        if is_pooled:
            current_choice = [(self.stack, self.layer, self.head), *((self.stack, *place) for place in places)]
            exact = self._with_exact(current_choice)
            facts.append(pooled_fact(around, [stack for stack in exact if isinstance(stack, PooledStack)]))
        if exact_heads:
            data = payload(exact)
        first = self._stacks[0]
        facts = [
            *size_facts(around, first.n_layers, self._maps[first.name].shape[0], len(first.queries.labels)),
            *facts,
        ]
        caption = one_file.Caption(
            title=str(title or self._caption.title), text=self._caption.text, facts=facts, link=link
        )
        export_stacks = one_file.page(
            data, {name: getattr(self, name) for name in CHOICE}, caption, self._lang, self.words
        ).encode()
        sentence = fill(around["file_size"], name=file.name, size=megabytes(len(export_stacks)))
        if is_pooled:
            sentence += " " + fill(around["file_pooled"], size=megabytes(exact_heads))
        sys.stdout.write(f"{sentence}\n")
        sys.stdout.flush()
        write_file(file, export_stacks)
        return file

    def _whole_bytes(self) -> int:
        """Estimate the size of a file with every head whole, from up to three heads of each stack."""
        total = len(self.data)
        for stack in self._stacks:
            if isinstance(stack, PooledStack):
                n = stack.n_layers * stack.n_heads
                sample = sorted({0, n // 2, n - 1})
                sizes = [len(packed_head(stack.open(*divmod(index, stack.n_heads)))[0]) for index in sample]
                total += n * sum(sizes) // len(sizes)
        return total * 4 // 3


def _place(choice: Mapping[str, Any]) -> Place:
    return (choice["stack"], choice["layer"], choice.get("head", 0))
