"""The inputs above the picture of every page: the text, and chips for its source, the layer and the mask.

A chip names the choice and opens its controls. Together they make the :class:`Choice` of a run.
"""

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import limits, params
from viz.errors import ModelError
from viz.frame import compute, specs
from viz.frame.available_models import models_here, require_file
from viz.frame.examples import example_labels, examples, restore_text, take_head
from viz.frame.inputs.source_chip import choose_sizes, source_controls
from viz.frame.mask_code import from_code
from viz.frame.shared import LANG, LAYER, MODEL, SOURCE, TEXT, Models
from viz.models.layout import LoadedModel
from viz.params import Flag, Int, Text, link
from viz.params.memory import Remembered
from viz.text import Translate

SOURCES = tuple(SOURCE.options())
OF_THE_SOURCE = ["source", "model", "layer", "d_model", "n_heads", "n_kv_heads", "seed"]
"""Parameters that a section without a source leaves as they are."""


def _is_painted(code: str) -> bool:
    """Nothing painted yet, or a mask that is not too large."""
    try:
        return code == "" or len(from_code(code)) <= limits.PAINTED_TOKENS
    except ValueError:
        return False


MASK = params.Choice("mask", among=specs.MASKS)
WIDTH = Int("width", 2, high=32)
GAP = Int("gap", 2, low=1, high=16)
PAD = Int("pad", 3, high=32)
PAD_LEFT = Flag("pad_left")
PAINTED_MASK = Text("painted", allows=_is_painted)
DETAILS = WIDTH, GAP, PAD, PAD_LEFT
"""Of masks that are a rule."""
_EXAMPLE: Remembered[str | None] = Remembered("_example")
"""The sentence that is chosen in the list, by its code."""

ModelPredicate = Callable[[LoadedModel | None], bool]
"""A predicate: True if a chip is shown for this model's own heads, or for seeded ones (None)."""


def always(_: LoadedModel | None) -> bool:
    """With every model, and with none."""
    return True


def first_text() -> str:
    """Return the default text."""
    restore_text()
    return examples()[0].text


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The shared controls that a page shows; the values of the others are kept.

    Args:
        text: False where no text would change anything, or asked of the model: the one that was chosen counts, and is
            not in the link.
        model: the same of the source, its model and its layer.
        layer: False for a page about the first layer, all of them, or none: a choice would do nothing there.
        mask: False for a page that has the control beside its picture, or nothing to mask.
        n_kv_heads: False for a page that has the control for G beside its picture; there G is at first less than H.
        layer_chip: whether the open section reads the layer; where it does not, the choice stays as it is.
        head_chip: whether it reads the head.
        default_text: the text of whoever has typed none.
        default_model: the model where none was chosen; "" for the app's default.
    """

    text: bool | ModelPredicate = True
    model: bool = True
    layer: bool = True
    mask: bool = True
    n_kv_heads: bool = True
    layer_chip: ModelPredicate = always
    head_chip: ModelPredicate = always
    default_text: Callable[[], str] = first_text
    default_model: Callable[[], str] = str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The chosen text and chips: small values only, so that it may be cached and compared."""

    lang: str
    source: specs.Source
    layer: int
    mask: specs.Mask
    dropped_characters: int


class Chips:
    """The row of chips: each is a small button that names what is chosen, and opens its controls."""

    def __init__(self, settings: str) -> None:
        self._row = st.container(key="chips", horizontal=True, gap="xsmall")
        self._label = settings
        self._settings: DeltaGenerator | None = None

    def add(self, name: str, label: str) -> DeltaGenerator:
        """A chip that opens what is drawn ``with`` it. The name is the same in every language."""
        return self._row.popover(label, key=f"chip_{name}")

    def add_setting(self, note: str = "") -> DeltaGenerator:
        """The chip of settings, for controls beside a page's subject; the first control's note is on it."""
        label = f"{self._label}{note and f' · {note}'}"
        self._settings = self._settings or self._row.popover(label, key="chip_settings")
        return self._settings


@dataclass(frozen=True, kw_only=True)
class PageInputs:
    """The inputs of a page: the choice, the row of chips, and the source's chip for further notes.

    ``source_chip`` is None where the open section reads neither text nor model.
    ``reads_head``: whether the open section reads the head, so that its chip is to be added.
    ``text_place`` is where the text's box stands, if it has one, and ``default_text`` the text at first.
    """

    choice: Choice
    chips: Chips
    source_chip: DeltaGenerator | None
    reads_head: bool
    text_place: DeltaGenerator | None
    default_text: str

    def read_text(self, t: Translate) -> "PageInputs":
        """Draw the text's box, and return the inputs with the text."""
        text, n_dropped = _text(t, self.choice.lang, self.text_place, self.default_text)
        source = replace(self.choice.source, text=text)
        choice = replace(self.choice, source=source, dropped_characters=n_dropped)
        # Every run adds its own chips to the row.
        return replace(self, choice=choice, chips=copy(self.chips))


def read_inputs(t: Translate, controls: Controls) -> PageInputs:
    """Draw the chips that pages share, and return the choice without its text, which has a place beside them.

    Raises:
        ModelError: if the chosen model cannot be used.
    """
    lang = LANG.value
    with st.container(key="asked", horizontal=True, gap="xsmall", vertical_alignment="center"):
        place = st.container(key="text_row", horizontal=True, gap="xsmall", vertical_alignment="center")
        chips = Chips(t("chips.settings"))
    # The default text depends on the model in the link.
    reads_text, default = controls.text, controls.default_text()
    kind = SOURCE.read()
    models = Models(models_here(), controls.default_model() or compute.DEFAULT_MODEL)
    model = "" if kind == "words" else MODEL.read(models)
    chip = chips.add("source", t(f"chips.{kind}", model=model)) if controls.model else None
    if chip:
        with chip:
            source_controls(t, lang, models)
    try:
        with chip or nullcontext():
            loaded_model = _load_model(t, model) if model else None
    except ModelError:
        _text(t, lang, place if reads_text is True else None, default)
        raise
    if not isinstance(reads_text, bool):
        reads_text = reads_text(loaded_model if kind == "model" else None)
    sizes: dict[str, Any] = {}
    if kind != "model":
        sizes = choose_sizes(t, chip, loaded_model.width if loaded_model else None, own_groups=controls.n_kv_heads)
    trained = loaded_model if kind == "model" else None
    layer = _layer(t, chips, trained, controls) if trained else 0
    mask = chosen_mask()
    if controls.mask:
        with chips.add_setting("" if mask.kind == "own" else t(f"chips.mask_{mask.kind}")):
            MASK.selectbox(t("choice.mask"), says=lambda code: t(f"mask.{code}"), help=t("choice.mask_help"))
            mask_details(t, mask.kind)
            if mask.kind == "painted":
                st.caption(t("choice.painted", n=limits.PAINTED_TOKENS))
    link.retain(*([] if controls.model else OF_THE_SOURCE))
    source = specs.Source(kind=kind, text="", model=model, **sizes)
    return PageInputs(
        choice=Choice(lang=lang, layer=layer, mask=mask, dropped_characters=0, source=source),
        chips=chips,
        source_chip=chip,
        reads_head=controls.head_chip(trained),
        text_place=place if reads_text else None,
        default_text=default,
    )


def _open_example() -> None:
    code = _EXAMPLE.read()
    # A browser may send any code.
    example = next((example for example in examples() if example.code == code), None)
    if example is not None:
        TEXT.set(example.text)
        if SOURCE.value == "model" and example.model in models_here():
            take_head(example)
        _EXAMPLE.set(None)


def _text(t: Translate, lang: str, place: DeltaGenerator | None, default: str) -> tuple[str, int]:
    """Return the text and how many characters of it were left out; draw its box, if it has a place."""
    if place is None:
        text = TEXT.read(default)
        link.retain(TEXT.name)
    else:
        with place:
            text = TEXT.text_box(
                t("choice.text"),
                default,
                draw=st.text_area,
                height="content",
                label_visibility="collapsed",
                placeholder=t("choice.text_help"),
            )
            labels = example_labels(lang)
            st.selectbox(
                t("choice.examples"),
                list(labels),
                index=None,
                key=_EXAMPLE.name,
                on_change=_open_example,
                width=112,
                placeholder=t("choice.examples"),
                label_visibility="collapsed",
                format_func=labels.__getitem__,
            )
    return text[: limits.CHARACTERS], max(0, len(text) - limits.CHARACTERS)


def own_model(default: str = "") -> str:
    """The model whose own heads are chosen, ``default`` where none is; "" for seeded ones."""
    return MODEL.read(Models(models_here(), default or compute.DEFAULT_MODEL)) if SOURCE.read() == "model" else ""


def _load_model(t: Translate, model: str) -> LoadedModel:
    """Return the model, with a note on the page while it loads."""
    require_file(model)
    # The spinner starts a thread: not in every run.
    with nullcontext() if compute.models().holds(model) else st.spinner(t("choice.loading")):
        return compute.model(model)


def _layer(t: Translate, chips: Chips, model: LoadedModel, controls: Controls) -> int:
    """The place of the chosen layer among those that attend; the link has the model's own number of it."""
    numbers = model.numbers
    layer = LAYER.read(numbers)
    if not controls.layer:
        return 0
    if len(numbers) > 1 and controls.layer_chip(model):
        with chips.add("layer", t("chips.layer", layer=layer)):
            LAYER.slider(t("choice.layer"), numbers, help=t("choice.layer_help"))
    return numbers.index(layer)


def chosen_mask() -> specs.Mask:
    """The mask of the link, with those of its parameters that matter to its kind."""
    kind = MASK.read()
    details: dict[str, Any] = {}
    if kind in ("window", "dilated", "prefix", "blocks"):
        details["width"] = WIDTH.variant(low=int(kind == "blocks")).read()
    if kind == "dilated":
        details["gap"] = GAP.read()
    if kind in ("padding", "both"):
        details |= {"pad": PAD.read(), "pad_left": PAD_LEFT.read()}
    if kind == "painted":
        details["painted"] = PAINTED_MASK.read()
    return specs.Mask(kind=kind, **details)


def mask_details(t: Translate, kind: str) -> None:
    """The controls that a kind of mask has beside its name."""
    if kind in ("window", "dilated", "prefix", "blocks"):
        WIDTH.variant(low=int(kind == "blocks")).slider(t(f"choice.width_{kind}"))
    if kind == "dilated":
        GAP.slider(t("choice.gap"))
    if kind in ("padding", "both"):
        PAD.slider(t("choice.pad"), help=t("choice.pad_help"))
        PAD_LEFT.toggle(t("choice.pad_left"), help=t("choice.pad_left_help"))
