"""The scene of a page: a text as seen by one layer of heads; and the notes on it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import streamlit as st

from viz.core.heads import MultiHeadTrace
from viz.core.spec import OddWidthError
from viz.errors import ModelError
from viz.frame import compute, specs
from viz.frame.inputs import Chips, Choice, PageInputs
from viz.frame.lazy import lazy
from viz.frame.shared import HEAD
from viz.models.capture import Call, Capture
from viz.models.spelling.pieces import spells_bytes
from viz.models.tokens import Tokens
from viz.params import link
from viz.text import Translate, paragraph

NO_USE = ("streamed", "streamed_pair", "streamed_chosen")
"""Errors that are none: a page has no use for a model that is fine elsewhere."""

LAYER_KINDS = ("linear_attention", "conv", "recurrent", "moe", "mlp")
"""Kinds of layers that do not attend, as configurations call them, which have a sentence of their own."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The scene of a page: a text as seen by one layer of heads.

    ``chips`` is the row above the picture, for a page that adds its own; ``reads_head`` says whether the open section
    reads the chosen head. The numbers come from the cache when they are first asked for.

    No callback, label or download may hold on to a scene: Streamlit keeps those as long as the user stays.
    """

    t: Translate
    choice: Choice
    chips: Chips
    reads_head: bool = True

    @lazy
    def capture(self) -> Capture:
        """The text as the source sees it."""
        return compute.read(self.choice.source)

    @lazy
    def trace(self) -> MultiHeadTrace:
        """Every step of the chosen layer, under the chosen mask."""
        return compute.trace(self.choice.source, self.choice.layer, self.choice.mask)

    @property
    def call(self) -> Call:
        """Inputs and options of the chosen layer's attention, before the mask."""
        return self.capture.calls[self.choice.layer]

    @property
    def layer_number(self) -> int:
        """The model's own number of the chosen layer."""
        return self.capture.number(self.choice.layer)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the tokens."""
        return self.capture.tokens.labels


@dataclass(frozen=True, kw_only=True)
class SceneContext:
    """The base of a page's context: the scene, to which the page adds what its sections need."""

    scene: Scene
    drawn_controls: set[str] = field(default_factory=set, compare=False)
    """Controls of several sections that one has drawn."""

    @property
    def t(self) -> Translate:
        """The texts in the user's language."""
        return self.scene.t

    def draws_first(self, control: str) -> bool:
        """Return True to the first section that draws a control; those below it, where all are open, share it."""
        is_first = control not in self.drawn_controls
        self.drawn_controls.add(control)
        return is_first


def open_scene(t: Translate, inputs: PageInputs) -> Scene:
    """Read the text and take every step of the chosen layer.

    Raises:
        ValueError: if that is not possible; the sentence says why.
    """
    scene = Scene(t=t, choice=inputs.choice, chips=inputs.chips, reads_head=inputs.reads_head)
    # One computation reads the text and takes the steps.
    scene.trace, scene.capture  # noqa: B018 -- here an error has its sentence
    return scene


def chosen_head(scene: Scene, label: str, n_heads: int, default: int = 1) -> int:
    """The head of the link, with its chip where there are several and the open section reads it."""
    parameter = HEAD.variant(default=default)
    head = parameter.read(n_heads)
    if n_heads > 1 and scene.reads_head:
        with scene.chips.add("head", scene.t("chips.head", head=head)):
            parameter.slider(label, n_heads)
    return head


def say_error(t: Translate, error: ValueError) -> None:
    """Show what is wrong and what to do, in the user's language where there is a sentence for it.

    What is not drawn for that reads nothing of the link: it stays there, for a reload.
    """
    link.keep_unread()
    if isinstance(error, ModelError) and error.code == "fetching":
        from viz.frame.fetching import say_fetch

        say_fetch(t)
    elif isinstance(error, ModelError):
        show = st.warning if error.code in NO_USE else st.error
        show(t(f"error.{error.code}", **{name: _plain(value) for name, value in error.values.items()}))
    elif isinstance(error, OddWidthError):
        # Some parts of a page have no use for this choice.
        st.warning(t("error.odd_width", width=error.width))
    else:
        st.error(_plain(error))


def _plain(value: Any) -> str:
    """Text that Markdown shows as it is; only names of models and files come here, never a user's text."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|$:~" else c for c in str(value))


def provenance(scene: Scene, *, pools: bool = False) -> None:
    """One line that says which numbers these are, and which mask was added.

    A page that ``pools`` heads says itself whether the numbers are still the model's own.
    """
    t, source, line = scene.t, scene.choice.source, source_line(scene)
    if source.kind == "model" and not (pools or mask_has_effect(scene)):
        line = paragraph(line, model_own(t, source.model))
    st.caption(line)
    if source.kind == "model":
        say_layer_kinds(scene)
    mask_added(scene)


provenance_pooled = partial(provenance, pools=True)


def source_line(scene: Scene, texts: str = "source", **more: Any) -> str:
    """Return the sentence that says which numbers these are, of these texts."""
    source, spec = scene.choice.source, scene.trace.projections.spec
    values = {
        "model": source.model,
        "layer": scene.layer_number,
        "layers": n_blocks(scene),
        "seed": source.seed,
        "H": spec.H,
        "G": spec.G,
        "kind": spec.kind,
        # This is the width of the stream: W_Q may read a shorter vector.
        "d_model": spec.d_out,
        "d_k": spec.d_k,
        "n": len(scene.labels),
    }
    heads = scene.t("source.heads", **values)
    return scene.t(f"{texts}.{source.kind}_line", heads=heads, **values | more)


def say_layer_kinds(scene: Scene) -> None:
    """Name the layers that do not attend, and say what a sink, a gate, short vectors or a norm of values do.

    Layers of the files that the configuration leaves out are counted.
    """
    t, call, model = scene.t, scene.call, compute.model(scene.choice.source.model)
    if model.n_unread_layers:
        st.caption(t("note.layers_unread", n=model.n_unread_layers))
    for kind, layers in model.other_layers.items():
        name = t(f"note.kind_{kind if kind in LAYER_KINDS else 'other'}")
        st.caption(t("note.layers", layers=ranges(layers), n=len(layers), kind=name))
    if call.options.get("sink") is not None:
        st.caption(t("note.sink"))
    if call.gate is not None:
        st.caption(t("note.gate"))
    if call.source is not None:
        st.caption(t("note.values_of", layer=call.source))
    if call.value_eps is not None:
        st.caption(t("note.values_normed"))
    if (latent := call.latent) is not None:
        queries = "" if latent.c_q is None else t("note.latent_q", c_q=latent.c_q)
        shared = t("note.latent_turned" if call.rotary else "note.latent_joined", r=latent.r) if latent.r else ""
        st.caption(paragraph(t("note.latent", c=latent.c), queries, shared))


def ranges(numbers: Sequence[int]) -> str:
    """Write numbers in order, runs of them as ranges."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(number) for number in run] for run in runs)
    return ", ".join(chain.from_iterable(parts))


def unsupported_part(call: Call, supported: Collection[str]) -> str:
    """Return a part of a layer that a section does not support: "sink", "gate", "latent", "values", "maps"; else ""."""
    has = {
        "sink": call.options.get("sink") is not None,
        "gate": call.gate is not None,
        "latent": call.latent is not None,
        "values": not call.has_own_values,
        "maps": call.maps_only,
    }
    return next((part for part, is_there in has.items() if is_there and part not in supported), "")


def refuse_latent(scene: Scene) -> None:
    """Refuse a layer whose queries and keys are made of other vectors, where a section compares one with itself.

    Raises:
        ModelError: "latent", or "values" where the keys are those of another layer.
    """
    if scene.call.latent is not None:
        raise ModelError("latent", model=scene.choice.source.model)
    if scene.call.source is not None:
        raise ModelError("values", model=scene.choice.source.model)


def n_blocks(scene: Scene) -> int:
    """Return how many layers the source has, with those that do not attend."""
    source = scene.choice.source
    return compute.model(source.model).n_blocks if source.kind == "model" else scene.capture.n_layers


def model_own(t: Translate, model: str) -> str:
    """Return the sentence that the numbers are a model's own, with the kind of weights."""
    return t("source.model_own_packaged" if compute.model(model).is_packaged else "source.model_own")


def mask_has_effect(scene: Scene) -> bool:
    """Return True if the user's mask changes anything."""
    choice = scene.choice
    if choice.mask.kind == "own":
        return False
    source_masked = compute.trace(choice.source, choice.layer, specs.Mask()).masked
    return not source_masked.isneginf().equal(scene.trace.masked.isneginf())


def mask_added(scene: Scene) -> None:
    """Name the user's mask, if it has an effect."""
    t, choice = scene.t, scene.choice
    if mask_has_effect(scene):
        kind = "model" if choice.source.kind == "model" else "seeded"
        st.caption(t(f"note.mask_{kind}", mask=t(f"mask.{choice.mask.kind}")))


def cuts(scene: Scene) -> None:
    """Show notes on a truncated text and on words unknown to the model."""
    t, choice = scene.t, scene.choice
    unknown_tokens(t, choice.source.model, scene.capture.tokens)
    if choice.dropped_characters:
        st.warning(t("note.dropped_characters", n=choice.dropped_characters))
    if scene.capture.tokens.n_excess:
        st.warning(t("note.dropped_tokens", n=scene.capture.tokens.n_excess, kept=len(scene.labels)))


def unknown_tokens(t: Translate, model: str, tokens: Tokens) -> None:
    """Say so where a model reads one token for all the words it does not know."""
    tokenizer: Any = compute.model(model).tokenizer if model else None
    # It is read once, because each access looks it up among all marks.
    unknown = tokenizer and tokenizer.unk_token_id
    if unknown is None or spells_bytes(tokenizer):
        # A byte-level tokenizer has no unknown token: its unk is another special token.
        return
    read = zip(tokens.ids, tokens.special, strict=True)
    if n := sum(token == unknown and not special for token, special in read):
        st.warning(t("note.unknown", model=_plain(model), n=n, all=len(tokens.ids), token=tokenizer.unk_token))
