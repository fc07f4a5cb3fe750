"""The grid as a widget: Jupyter, VS Code, Colab and marimo show it, and Python reads what is chosen in it."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets
from torch import Tensor

from viz.components import bundle, one_file
from viz.components.take_away import Stack, payload
from viz.text import fill

CHOICE = ("stack", "layer", "head", "query", "key", "temperature", "sort", "show", "look", "combine", "several")
RENDER = """
const render = ({ model, el }) => {
  const host = document.createElement("div"), place = document.createElement("div");
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys
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
    sort = traitlets.Unicode("model").tag(sync=True)
    show = traitlets.Enum(["all", "layer", "top"], "all").tag(sync=True)
    look = traitlets.Enum(["map", "lines", "across"], "map").tag(sync=True)
    combine = traitlets.Enum(["one", "mean", "max"], "one").tag(sync=True)
    notes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    several = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(
        self,
        stacks: Sequence[Stack],
        maps: Mapping[str, Mapping[int, Tensor]],
        *,
        lang: str,
        caption: one_file.Caption,
        **choice: Any,
    ) -> None:
        self._maps, self._lang, self._caption = dict(maps), lang, caption
        first = stacks[0].name
        default = {"stack": first, "layer": next(iter(maps[first])), "notes": list(caption.facts)}
        self._axes = {stack.name: (stack.queries.labels, stack.keys.labels) for stack in stacks}
        words = one_file.grid_words(lang)
        super().__init__(data=payload(stacks), words=words, **default | choice)

    @property
    def tokens(self) -> tuple[Sequence[str], Sequence[str]]:
        """What is written along the rows and along the columns of the stack that is shown."""
        return self._axes[self.stack]

    @property
    def weights(self) -> np.ndarray:
        """The weights of the head that is shown, (queries, keys), float32, at temperature 1."""
        array: np.ndarray = self._maps[self.stack][self.layer][self.head].numpy()
        return array.copy()

    @traitlets.validate("stack", "layer", "head", "query", "key", "temperature")
    def _possible(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        stack = value if name == "stack" else self.stack
        if stack not in self._maps:
            raise traitlets.TraitError(f"stack={stack!r} is none of {', '.join(self._maps)}.")
        if name == "temperature" and not 0.1 <= value <= 10:
            raise traitlets.TraitError(f"temperature={value} is not from 0.1 to 10.")
        maps = self._maps[stack]
        if name == "layer" and value not in maps:
            with_maps = ", ".join(map(str, maps))
            raise traitlets.TraitError(f"layer={value} has no maps here: the layers that have some are {with_maps}.")
        heads, queries, keys = next(iter(maps.values())).shape
        most = {"head": heads, "query": queries, "key": keys}
        if name in most and value is not None and not 0 <= value < most[name]:
            raise traitlets.TraitError(f"{name}={value} is not from 0 to {most[name] - 1}.")
        return value

    def save_html(self, path: str | Path, *, title: str = "", link: str = "") -> Path:
        """Write the grid, as it is now, as one HTML file that needs no server and no network; gives its path.

        Args:
            path: of the file.
            title: above the picture; usually the model's name.
            link: where the same can be seen alive, if it can: http:// or https://.
        """
        around, (stack, maps) = one_file.grid_words(self._lang)["around"], next(iter(self._maps.items()))
        facts = (*_facts(around, maps, len(self._axes[stack][0])), *self.notes)
        caption = one_file.Caption(title=title or self._caption.title, text=self._caption.text, facts=facts, link=link)
        choice = {name: getattr(self, name) for name in CHOICE}
        file = Path(path)
        file.write_text(one_file.page(self.data, choice, caption, self._lang), "utf8")
        return file


def _facts(around: Mapping[str, str], maps: Mapping[int, Tensor], n: int) -> tuple[str, str]:
    what = fill(around["layers"], layers=len(maps), heads=len(next(iter(maps.values()))), n=n)
    return what, fill(around["saved"], date=date.today().isoformat())
