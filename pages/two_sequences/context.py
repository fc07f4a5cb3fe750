"""The context of every section: two texts, and one layer of heads between them and on each alone."""

from dataclasses import dataclass, replace

import streamlit as st

from viz import limits
from viz.frame import compute, specs
from viz.frame.available_models import models_here
from viz.frame.examples import Example, default_target, pairs, stash_text
from viz.frame.inputs import first_text, own_model
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, chosen_head, unknown_tokens
from viz.frame.shared import MODEL, SECTION, TARGET, TEXT
from viz.models.cross import has_cross
from viz.params.memory import Remembered
from viz.text import Translate

_PAIR: Remembered[str | None] = Remembered("_pair")
"""Code of the pair of texts chosen in the list."""

OUR_TRANSLATOR, LARGER = "animals-en-zh", "t5-small"
"""Encoder-decoders of the registry that the page proposes: this project's, and one from the hub."""

FAMOUS_LAYER, FAMOUS_HEAD = 1, 0
"""The head of this project's translator that finds the next word to translate."""


@dataclass(frozen=True, kw_only=True)
class TwoSequencesContext:
    """Two texts, and one layer of heads.

    ``source`` is the text of every page, read by itself; in ``cross`` the target's words attend to the source's.
    ``head`` is a number that is valid in both.
    """

    source: Scene
    cross: Scene
    target_text: str
    head: int

    @property
    def t(self) -> Translate:
        """Texts in the user's language."""
        return self.source.t

    @lazy
    def target(self) -> Scene:
        """The target read by itself: self-attention."""
        choice = self.source.choice
        return see(self.source, replace(choice.source, text=self.target_text), choice.mask)

    @property
    def is_trained(self) -> bool:
        """True if the heads between the two texts are an encoder-decoder's own."""
        return "decoder" in self.cross.capture.stacks

    @property
    def is_cut(self) -> bool:
        """True if a text is longer than the part that is scored pair by pair."""
        return max(self.cross.trace.weights.shape[-2:]) > limits.SCORED_TOKENS


def see(scene: Scene, source: specs.Source, mask: specs.Mask) -> Scene:
    """Return the scene of the page's layer of heads on other texts."""
    capture = compute.read(source)
    # A decoder may have fewer layers than its encoder.
    layer = min(scene.choice.layer, capture.n_layers - 1)
    choice = replace(scene.choice, source=source, layer=layer, mask=mask)
    return replace(scene, choice=choice)


def open_two_sequences(scene: Scene) -> TwoSequencesContext:
    """Draw the box of the second text and the chip of the head, and return the context.

    Raises:
        ModelError: if the second text has no word.
    """
    t, target = scene.t, _target_text(scene)
    # A translator writes the target itself: the section shows nothing of another one.
    is_written = is_translation() and has_cross(scene.capture)
    # A mask refers to positions of one text; between two it is meaningless.
    cross = see(scene, replace(scene.choice.source, target="" if is_written else target), specs.Mask())
    if not is_translation():
        if n_dropped := cross.capture.queries.n_excess:
            st.warning(t("two_sequences.dropped", n=n_dropped, kept=len(cross.capture.queries.ids)))
        unknown_tokens(t, scene.choice.source.model, cross.capture.queries)
    opens = is_translation() and not MODEL.is_chosen
    default = FAMOUS_HEAD if opens else 1
    n_heads = min(len(calls[0].q) for part in (cross, scene) for calls in part.capture.stacks.values())
    head = chosen_head(scene, t("two_sequences.head"), n_heads, default)
    return TwoSequencesContext(source=scene, cross=cross, target_text=target, head=head)


def is_translation() -> bool:
    """True if the translation is the only open section."""
    return bool(SECTION.value == "translation")


def sentence() -> Example:
    """Return a sentence that the small translator knows."""
    return next(pair for pair in pairs() if pair.code == "animals")


def default_model() -> str:
    """Return the default model, a translator; "" if it is not available."""
    may_show = not limits.MODELS or OUR_TRANSLATOR in limits.MODELS
    return OUR_TRANSLATOR if may_show and OUR_TRANSLATOR in models_here() else ""


def default_text() -> str:
    """Return the default text of the translation."""
    default = default_model()
    if not default:
        return first_text()
    stash_text(with_model=True)
    return sentence().text if own_model(default) == default else first_text()


def _target_text(scene: Scene) -> str:
    """Draw the box of the target text and return it; the source is the text of every page."""
    t, lang, by_code = scene.t, scene.choice.lang, {pair.code: pair for pair in pairs()}
    default = default_target(scene.choice.source.text)
    # The translator writes the target itself.
    if is_translation():
        return TARGET.read(default)[: limits.CHARACTERS]
    with st.container(key="target_row", horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(t("two_sequences.target_short"), width="content")
        text = TARGET.text_box(
            t("two_sequences.target"),
            default,
            draw=st.text_area,
            height="content",
            label_visibility="collapsed",
        )
        with st.container(horizontal=True, gap="small", width="content", vertical_alignment="center"):
            st.selectbox(
                t("two_sequences.pairs"),
                list(by_code),
                index=None,
                key=_PAIR.name,
                on_change=_open_pair,
                width=150,
                placeholder=t("two_sequences.pairs"),
                label_visibility="collapsed",
                format_func=lambda code: f"{by_code[code].target} · {by_code[code].why[lang]}",
            )
            st.button(t("two_sequences.swap"), on_click=_swap, type="tertiary", icon=":material/swap_vert:")
    if len(text) > limits.CHARACTERS:
        st.warning(t("note.dropped_characters", n=len(text) - limits.CHARACTERS))
    return text[: limits.CHARACTERS]


def _open_pair() -> None:
    code = _PAIR.read()
    if code is not None:
        pair = next(pair for pair in pairs() if pair.code == code)
        TEXT.set(pair.text)
        TARGET.set(pair.target)
        _PAIR.set(None)


def _swap() -> None:
    text, target = TEXT.value, TARGET.value
    TEXT.set(target)
    TARGET.set(text)
