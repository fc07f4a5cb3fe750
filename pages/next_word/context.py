"""The context of every section: a decoder's text, the token to predict after, and two words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps

import streamlit as st

from pages.next_word import compute
from pages.next_word.decoders import (
    decoders,
    default_decoder,
    describe_twin,
    offer_decoder,
    preset_button,
    row,
    take,
    take_preset,
    twin,
)
from pages.next_word.parameters import AGAINST, AT, FOLLOW
from pages.next_word.presets import OF_TWINS, preset_of, presets_for
from viz.core.analysis.checks import random_place
from viz.frame.checks import Check, source_checks
from viz.frame.compute import model, read
from viz.frame.format import number
from viz.frame.modes.figure_facts import note_source
from viz.frame.scene import Scene, SceneContext, provenance, say_layer_kinds, unknown_tokens
from viz.frame.shared import MODEL, SOURCE
from viz.frame.specs import Mask, Source
from viz.models.stream import has_words, logit_cap, writable_token
from viz.models.tokens import Tokens, guesses
from viz.params import Text
from viz.params.memory import Remembered
from viz.text import Translate, isolate, paragraph
from viz.text.naming import list_token

ALONE = "∅"
"""In place of a second word: the first one's logit by itself. No vocabulary has it as a word."""
WIDTH = 300
"""Width of a control, in pixels."""
N_ALTERNATIVES = 6
"""Most decoders with a button each."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """A followed word: its token, and its label."""

    token: int
    label: str


@dataclass(frozen=True, kw_only=True)
class NextWordContext(SceneContext):
    """A decoder's text; ``at`` is the token to predict after, ``word`` is followed, ``against`` compared or None.

    ``source`` is the page's, or, with ``example``, one with the same text for a decoder that the user did not choose.
    """

    source: Source
    example: bool
    tokens: Tokens
    at: int
    word: Word
    against: Word | None
    drawn: set[str] = field(default_factory=set)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the tokens."""
        return self.tokens.labels

    @property
    def tokens_compared(self) -> tuple[int, ...]:
        """The token of the followed word, and of the compared one if there is one."""
        return (self.word.token,) if self.against is None else (self.word.token, self.against.token)

    def words(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """Return the labels of words of the vocabulary."""
        return guesses(model(self.source.model).tokenizer, list(tokens))

    @property
    def why(self) -> str:
        """The description of the text, if it is a preset."""
        preset = preset_of(self.source.model, self.source.text)
        return preset.why[self.scene.choice.lang] if preset else ""

    @property
    def asked(self) -> str:
        """The two words, or the single one, that a number refers to. For ``st.text`` and figures only."""
        word = self.word.label
        return word if self.against is None else self.t("next_word.rather", word=word, against=self.against.label)

    def say_cap(self) -> None:
        """Note for a model with a logit cap (Gemma 2) that sums refer to the logits before it."""
        if cap := logit_cap(model(self.source.model)):
            st.caption(self.t("next_word.capped", cap=number(cap)))

    def say_sink(self) -> None:
        """Note for a model with learned sinks (gpt-oss) that they stand in front of W_O, so parts have them in."""
        if any(call.options.get("sink") is not None for call in read(self.source).calls):
            st.caption(self.t("next_word.sink"))


def open_next_word(scene: Scene) -> NextWordContext | None:
    """Draw the shared controls, and report a model without a vocabulary head; return None if there is no decoder.

    The chips come first, so that they do not push down the elements below.
    """
    source, example = _decoders_source(scene)
    if source is not None and example and default_decoder() in OF_TWINS:
        offer_decoder(scene.t, source.model, _silent(scene))
        return None
    context = None if source is None else _choose(scene, source, example)
    if example or context is None:
        _say_silent(scene, source)
    if context is None:
        return None
    note_source(scene.t, context.source)
    name = context.source.model
    if name in OF_TWINS:
        describe_twin(scene.t, name)
    if example:
        unknown_tokens(scene.t, name, context.tokens)
    if len(context.labels) < len(read(context.source).tokens.labels):
        st.caption(scene.t("next_word.first", n=len(context.labels)))
    return context


def _decoders_source(scene: Scene) -> tuple[Source | None, bool]:
    """Return the page's text for a decoder: the chosen one, or an example if the choice has no vocabulary head."""
    source = scene.choice.source
    if source.kind == "model" and has_words(model(source.model)):
        return Source(kind="model", text=source.text, model=source.model), False
    name = default_decoder() if source.kind == "model" else twin()
    return (Source(kind="model", text=source.text, model=name) if name else None), bool(name)


def _choose(scene: Scene, source: Source, example: bool) -> NextWordContext:
    tokens = compute.tokens_of(source)
    at = _place(scene, tokens)
    word, against = _words(scene, source, at, len(tokens.ids) - 1)
    with scene.chips.add_setting():
        _preset_control(scene, source.model)
    return NextWordContext(
        scene=scene, source=source, example=example, tokens=tokens, at=at, word=word, against=against
    )


def _silent(scene: Scene) -> str:
    current = scene.choice.source
    return scene.t(f"next_word.silent_{'model' if current.kind == 'model' else 'seeded'}", model=current.model)


def _say_silent(scene: Scene, source: Source | None) -> None:
    """Report that the choice has no vocabulary head and name the decoder in its place, with a button to select it."""
    t, sentence = scene.t, _silent(scene)
    if source is None:
        st.caption(sentence)
        return
    with row("take"):
        st.caption(paragraph(sentence, t("next_word.example", model=source.model)), width="content")
        preset_button(t, source.model)


_PRESET: Remembered[str | None] = Remembered("_next_preset")
"""Code of the preset chosen in the list."""


def _open_preset(name: str) -> None:
    if (code := _PRESET.read()) is not None:
        take_preset(name, code)
        SOURCE.choose("model")
        MODEL.choose(name)
        _PRESET.set(None)


def _preset_control(scene: Scene, name: str) -> None:
    presets, lang = presets_for(name), scene.choice.lang
    st.selectbox(
        scene.t("next_word.presets"),
        list(presets),
        index=None,
        key=_PRESET.name,
        on_change=_open_preset,
        args=(name,),
        width=WIDTH,
        placeholder=scene.t("choice.examples"),
        format_func=lambda code: f"{isolate(presets[code].text)} · {presets[code].why[lang]}",
    )


def _place(scene: Scene, tokens: Tokens) -> int:
    """Return the token to predict after; the last one by default."""
    t, names = scene.t, [list_token(i, label) for i, label in enumerate(tokens.labels)]
    at = AT.read(tokens)
    with scene.chips.add_setting():
        AT.selectbox(t("next_word.at"), tokens, says=names.__getitem__, width=WIDTH)
    return at


def _words(scene: Scene, source: Source, at: int, last: int) -> tuple[Word, Word | None]:
    """Return the followed word and the compared one: of the likeliest, or any typed one."""
    best = compute.expected(source).best[at].tolist()
    names = dict(zip(guesses(model(source.model).tokenizer, best), best, strict=True))
    first, *rest = names
    default = first, rest[0] if rest else ALONE
    if at == last and (preset := preset_of(source.model, source.text)):
        default = preset.follow, preset.against
    with scene.chips.add_setting():
        follow = _word_control(scene.t, FOLLOW, default[0], list(names))
        against = _word_control(scene.t, AGAINST, default[1], [ALONE, *names])
    word = _resolve(source, names, follow)
    return word, None if against == ALONE else _resolve(source, names, against)


def _word_control(t: Translate, parameter: Text, default: str, options: list[str]) -> str:
    label, help_text = t(f"next_word.{parameter.name}"), t("next_word.word_help")

    def name_word(word: str) -> str:
        return t("next_word.alone") if word == ALONE else word

    return parameter.selectbox(label, default, suggestions=options, says=name_word, width=WIDTH, help=help_text)


def _resolve(source: Source, names: dict[str, int], name: str) -> Word:
    """Return a word as a token: one of the likeliest by its label, else the first piece of the typed text."""
    token = names.get(name)
    if token is None:
        token = writable_token(model(source.model), name)
    if token is None:
        token = next(iter(names.values()))
    return Word(token=token, label=guesses(model(source.model).tokenizer, [token])[0])


def model_checks(context: NextWordContext) -> list[Check]:
    """Return the checks of the model: its tokens, a row of a random layer, and its file."""
    source = context.source
    return source_checks(source, random_place(read(source).n_layers, source, "layer"), Mask())


Draw = Callable[[NextWordContext], list[Check]]


def for_decoders(draw: Draw) -> Callable[[NextWordContext | None], list[Check]]:
    """Wrap a section so that it draws nothing if no decoder is available."""

    @wraps(draw)
    def drawn(context: NextWordContext | None) -> list[Check]:
        return [] if context is None else draw(context)

    return drawn


def about(scene: Scene) -> None:
    """Describe the source of the numbers; a model's own mask alone applies."""
    source, t = scene.choice.source, scene.t
    if other_names := [name for name in decoders() if name != source.model]:
        st.caption(t("next_word.others"))
        with st.container(horizontal=True, gap="small", key="next_others"):
            for name in other_names[:N_ALTERNATIVES]:
                st.button(name, key=f"open_{name}", on_click=take, args=(name,), type="tertiary")
    if source.kind != "model":
        provenance(scene)
        return
    spec = scene.trace.projections.spec
    st.caption(t("next_word.model_line", model=source.model, layers=scene.capture.n_layers, H=spec.H, G=spec.G))
    say_layer_kinds(scene)
