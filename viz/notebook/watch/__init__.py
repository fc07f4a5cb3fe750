"""``viz.watch``: the heads of a model on one text, every so many steps of its training."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook

from viz.components.one_file import Caption, grid_words
from viz.notebook import run
from viz.notebook.arguments import check_text, check_tokenizer, name_of, open_model, open_tokenizer
from viz.notebook.device import on_processor
from viz.notebook.maps import read_layers
from viz.notebook.stacks import stack_of
from viz.text import LANGUAGES, fill, words_of

if TYPE_CHECKING:
    from viz.notebook.widget import HeadGrid

MOST_BYTES = 256_000_000
"""Of all maps that are kept; beyond it every second moment goes, and those to come are twice as far apart."""

STEPS = {"layer": "step", "Layer": "Step", "层": "步"}
"""Words for what the rows of a grid are, and for what they are here."""


class Watch:
    """The heads of a model of transformers on one short text while it trains, every so many steps.

    Inside its ``with`` each step of an optimizer that changes the model counts; ``callback`` is for the Trainer of
    transformers, which counts itself; any other loop calls ``note(step)``. The training stays as it is, to the last
    bit: the model is run without dropout and gradients. ``moments`` are the maps by their steps, also of where the
    training begins and ends. ``target`` is what the decoder of an encoder-decoder reads, ``lang`` of the words around.

    Raises:
        ValueError: a sentence on what is wrong with what was handed over.
    """

    def __init__(
        self, model: Any, tokenizer: Any, text: Any, *, every: int = 50, target: Any = None, lang: str = "en"
    ) -> None:
        if lang not in LANGUAGES or type(every) is not int or every < 1:
            raise ValueError(f"every={every!r} is a number of steps, and lang={lang!r} one of {', '.join(LANGUAGES)}.")
        check_text(model, tokenizer, text)
        self.model, self.tokenizer = open_model(model), open_tokenizer(tokenizer)
        check_tokenizer(self.tokenizer)
        self.text, self.target, self.lang, self.every, self.n_steps = text, target, lang, every, 0
        self.moments: dict[int, dict[tuple[str, int], Tensor]] = {}
        self._reading: Any = None
        self._hook: Any = None

    def __enter__(self) -> "Watch":
        self.note(self.n_steps, True)
        parameter = next((values for values in self.model.parameters() if values.requires_grad), None)

        def count(optimizer: torch.optim.Optimizer, *_: Any) -> None:
            # Of several optimizers of a model one has this parameter.
            if any(values is parameter for group in optimizer.param_groups for values in group["params"]):
                self.note(self.n_steps + 1)

        self._hook = register_optimizer_step_post_hook(count)
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()
        self.note(self.n_steps, True)

    @property
    def callback(self) -> Any:
        """A callback for the Trainer of transformers."""
        from viz.models.trained.callback import StepCallback

        return StepCallback(self.note)

    @on_processor()
    def note(self, step: int, at_once: bool = False) -> None:
        """Keep the heads of a step, if it is one of every so many, or at once."""
        self.n_steps = step
        if step in self.moments or (step % self.every and not at_once):
            return
        if self._reading is None:
            # With all checks: afterwards the maps alone are read.
            self._reading = run.read(self.model, self.tokenizer, self.text, self.target)
            stacks = self._reading.stacks
        else:
            stacks = run.read_again(self.model, self._reading)
        self.moments[step] = maps = {
            (name, number): layer[0].to("cpu", torch.float16)
            for name, layers in stacks.items()
            for number, layer in zip(self._reading.numbers[name], layers, strict=True)
            if isinstance(layer, Tensor)
        }
        if len(self.moments) * sum(values.nbytes for values in maps.values()) > MOST_BYTES:
            self.every *= 2
            self.moments = {step: maps for step, maps in self.moments.items() if step % self.every == 0}

    @on_processor()
    def grid(self, **choice: Any) -> "HeadGrid":
        """Return a widget of what was kept, in which ``stack`` is a layer of the model, and ``layer`` a step.

        Raises:
            ValueError: if nothing was kept: before the first step, or of a text whose maps are made one by one.
            ImportError: if anywidget is not installed.
        """
        from viz.notebook.show import open_widget

        if not any(self.moments.values()):
            raise ValueError("No heads were kept: viz.watch(model, tokenizer, a short text), then a training.")
        steps, reading, plain_words = list(self.moments), self._reading, grid_words(self.lang)
        words, stacks, all_maps = {part: _with_steps(texts) for part, texts in plain_words.items()}, [], {}
        for stack, number in self.moments[steps[-1]]:
            name = f"{stack} {number}"
            words["around"][f"stack_{name}"] = fill(words_of(self.lang, "chips")["layer"], layer=number)
            all_maps[name] = maps = read_layers(
                [moment[stack, number] for moment in self.moments.values()], stack, steps
            )
            rows = reading.tokens[-1 if stack in ("decoder", "cross") else 0]
            columns = reading.tokens[-1 if stack == "decoder" else 0]
            nobody = words["around"]["nobody" if reading.has_sinks else "missing"]
            stacks.append(stack_of(name, maps, rows, columns, nobody=nobody, same=stack != "cross"))
        facts = [fill(plain_words["around"][f"note_{name}"], **values) for name, values in reading.notes]
        title = fill(words["around"]["title"], model=name_of(self.model))
        caption = Caption(title=title, text=self.text if isinstance(self.text, str) else "", facts=facts)
        default = {"stack": stacks[-1].name, "layer": steps[-1]}
        widget, _ = open_widget()
        return widget(stacks, all_maps, lang=self.lang, caption=caption, words=words, **default | choice)

    def save_html(self, path: str | Path, **options: Any) -> Path:
        """Write the strip as one HTML file; the options are those of a grid's own ``save_html``."""
        return self.grid().save_html(path, **options)

    def _ipython_display_(self, **_: Any) -> None:
        from IPython.display import display

        display(self.grid())


def _with_steps(texts: Mapping[str, str]) -> dict[str, str]:
    """Texts on layers as texts on steps; behind a brace stands a name."""
    return {name: re.sub(r"(?<!\{)([Ll]ayer|层)", lambda word: STEPS[word[0]], text) for name, text in texts.items()}


watch = Watch
