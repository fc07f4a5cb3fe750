"""What every section of the page stands on: a decoder's text, the token after which it is asked, and two words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps

import streamlit as st

from pages.next_word import compute
from pages.next_word.decoders import decoders, take, take_preset, twin, usual_model
from pages.next_word.parameters import AGAINST, AT, FOLLOW
from pages.next_word.presets import OF_TWINS, preset_of, presets_for
from viz.core.random_place import random_place
from viz.frame.checks import Check, source_checks
from viz.frame.compute import model, read
from viz.frame.format import number
from viz.frame.modes.figure_facts import note_source
from viz.frame.scene import Scene, provenance, say_unknown
from viz.frame.shared import MODEL, SOURCE
from viz.frame.specs import Mask, Source
from viz.models.stream import has_words, logit_cap
from viz.models.tokens import Tokens, guesses, word_token
from viz.models.trained.twins import words
from viz.params import Text
from viz.params.memory import Remembered
from viz.text import Translate, paragraph
from viz.text.direction import isolate

ALONE = "∅"
"""Instead of a second word: the first one's logit by itself. No vocabulary has it as a word."""
WIDTH = 300
"""Of a control, in pixels."""
OTHERS = 6
"""Decoders offered by a button each."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word that is followed: its token, and what to write for it."""

    token: int
    label: str


@dataclass(frozen=True, kw_only=True)
class NextWordContext:
    """A decoder's text; ``at`` is the token after which it is asked, ``word`` is followed, ``against`` another or None.

    ``source`` is the page's, or an example's that reads the same text where no decoder is chosen. ``example`` says so.
    """

    scene: Scene
    source: Source
    example: bool
    tokens: Tokens
    at: int
    word: Word
    against: Word | None
    drawn: set[str] = field(default_factory=set)

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t

    @property
    def labels(self) -> tuple[str, ...]:
        """What to write for each token."""
        return self.tokens.labels

    @property
    def tokens_compared(self) -> tuple[int, ...]:
        """The token of the word that is followed, and of the other one if there is one."""
        return (self.word.token,) if self.against is None else (self.word.token, self.against.token)

    def words(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """What to write for words of the vocabulary."""
        return guesses(model(self.source.model).tokenizer, list(tokens))

    @property
    def why(self) -> str:
        """What there is to see in the text, if it is one of the presets."""
        preset = preset_of(self.source.model, self.source.text)
        return preset.why[self.scene.choice.lang] if preset else ""

    @property
    def asked(self) -> str:
        """The two words, or the one: what a number is about. For ``st.text`` and figures only."""
        word = self.word.label
        return word if self.against is None else self.t("next_word.rather", word=word, against=self.against.label)

    def say_cap(self) -> None:
        """Say of a model that presses its logits together that sums are of those before (Gemma 2)."""
        if cap := logit_cap(model(self.source.model)):
            st.caption(self.t("next_word.capped", cap=number(cap)))


def open_next_word(scene: Scene) -> NextWordContext | None:
    """Draw the controls that all sections share, and say where a model has no words; None if there is no decoder.

    The chips come first: what stands below them is not pushed down by them.
    """
    source, example = _decoders_source(scene)
    context = None if source is None else _choose(scene, source, example)
    if example or context is None:
        _say_silent(scene, source)
    if context is None:
        return None
    note_source(scene.t, context.source)
    name = context.source.model
    if name in OF_TWINS:
        st.caption(scene.t("next_word.twin", model=name, n=len(words())))
    if example:
        say_unknown(scene.t, name, model(name).tokenizer, context.tokens)
    if len(context.labels) < len(read(context.source).tokens.labels):
        st.caption(scene.t("next_word.first", n=len(context.labels)))
    return context


def _decoders_source(scene: Scene) -> tuple[Source | None, bool]:
    """The page's text for a decoder: the chosen one, or an example where nothing chosen has a vocabulary head."""
    source = scene.choice.source
    if source.kind == "model" and has_words(model(source.model)):
        return Source(kind="model", text=source.text, model=source.model), False
    name = usual_model() if source.kind == "model" else twin()
    return (Source(kind="model", text=source.text, model=name) if name else None), bool(name)


def _choose(scene: Scene, source: Source, example: bool) -> NextWordContext:
    tokens = compute.tokens_of(source)
    at = _place(scene, tokens)
    word, against = _words(scene, source, at, len(tokens.ids) - 1)
    with scene.chips.add("next_preset", scene.t("next_word.presets")):
        _preset_control(scene, source.model)
    return NextWordContext(
        scene=scene, source=source, example=example, tokens=tokens, at=at, word=word, against=against
    )


def _say_silent(scene: Scene, source: Source | None) -> None:
    """Say that nothing chosen has a vocabulary head and what reads the text instead, with a button that chooses it."""
    t, chosen = scene.t, scene.choice.source
    says = t(f"next_word.silent_{'model' if chosen.kind == 'model' else 'seeded'}", model=chosen.model)
    if source is None:
        st.caption(says)
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="next_take"):
        st.caption(paragraph(says, t("next_word.example", model=source.model)), width="content")
        _preset_button(t, source.model)


def _preset_button(t: Translate, name: str) -> None:
    st.button(t("next_word.take", model=name), key=f"take_{name}", on_click=take, args=(name,), type="tertiary")


_PRESET: Remembered[str | None] = Remembered("_next_preset")
"""The example that is chosen in the list, by its code."""


def _open_preset(name: str) -> None:
    if (code := _PRESET.read()) is not None:
        take_preset(name, code)
        SOURCE.choose("model")
        MODEL.choose(name)
        _PRESET.set(None)


def _preset_control(scene: Scene, name: str) -> None:
    offered, lang = presets_for(name), scene.choice.lang
    st.selectbox(
        scene.t("next_word.presets"),
        list(offered),
        index=None,
        key=_PRESET.name,
        on_change=_open_preset,
        args=(name,),
        width=WIDTH,
        placeholder=scene.t("choice.examples"),
        format_func=lambda code: f"{isolate(offered[code].text)} · {offered[code].why[lang]}",
    )


def _place(scene: Scene, tokens: Tokens) -> int:
    """The token after which the model is asked; the last one at first."""
    t, names = scene.t, [f"{i} · {isolate(label)}" for i, label in enumerate(tokens.labels)]
    at = AT.read(tokens)
    with scene.chips.add(AT.name, t("next_word.at_chip", n=at)):
        AT.selectbox(t("next_word.at"), tokens, says=names.__getitem__, width=WIDTH)
    return at


def _words(scene: Scene, source: Source, at: int, last: int) -> tuple[Word, Word | None]:
    """The word that is followed and the one it is compared with: of the likeliest, or any that is typed."""
    best = compute.expected(source).best[at].tolist()
    names = dict(zip(guesses(model(source.model).tokenizer, best), best, strict=True))
    first, *others = names
    usual = first, others[0] if others else ALONE
    if at == last and (preset := preset_of(source.model, source.text)):
        usual = preset.follow, preset.against
    with scene.chips.add("next_words", scene.t("next_word.words_chip")):
        follow = _word_control(scene.t, FOLLOW, usual[0], list(names))
        against = _word_control(scene.t, AGAINST, usual[1], [ALONE, *names])
    word = _resolve(source, names, follow)
    return word, None if against == ALONE else _resolve(source, names, against)


def _word_control(t: Translate, parameter: Text, usual: str, options: list[str]) -> str:
    label, help_text = t(f"next_word.{parameter.name}"), t("next_word.word_help")
    return parameter.selectbox(label, usual, offered=options, says=_named(t), width=WIDTH, help=help_text)


def _named(t: Translate) -> Callable[[str], str]:
    alone = t("next_word.alone")
    return lambda word: alone if word == ALONE else word


def _resolve(source: Source, names: dict[str, int], written: str) -> Word:
    """A word as a token: one of the likeliest by its label, else the first piece of what was typed."""
    tokenizer = model(source.model).tokenizer
    token = names.get(written)
    if token is None:  # links of before name a piece of a letter as the tokenizer does
        cut = [token for label, token in names.items() if "…" in label]
        token = dict(zip(tokenizer.convert_ids_to_tokens(cut), cut, strict=True)).get(written)
    if token is None:
        token = word_token(tokenizer, written)
    if token is None:
        token = next(iter(names.values()))
    return Word(token=token, label=guesses(tokenizer, [token])[0])


def model_checks(context: NextWordContext) -> list[Check]:
    """Return what must hold of the model that is asked: its tokens, a row of a random layer, and its file."""
    source = context.source
    return source_checks(source, random_place(read(source).n_layers, source, "layer"), Mask())


Draw = Callable[[NextWordContext], list[Check]]


def for_decoders(draw: Draw) -> Callable[[NextWordContext | None], list[Check]]:
    """A section that has nothing to draw where no decoder is on this machine."""

    @wraps(draw)
    def drawn(context: NextWordContext | None) -> list[Check]:
        return [] if context is None else draw(context)

    return drawn


def about(scene: Scene) -> None:
    """Which numbers these are; a model's with its own mask alone."""
    source, t = scene.choice.source, scene.t
    if others := [name for name in decoders() if name != source.model]:
        st.caption(t("next_word.others"))
        with st.container(horizontal=True, gap="small", key="next_others"):
            for name in others[:OTHERS]:
                st.button(name, key=f"open_{name}", on_click=take, args=(name,), type="tertiary")
    if source.kind != "model":
        provenance(scene)
        return
    spec = scene.trace.projections.spec
    st.caption(t("next_word.model_line", model=source.model, layers=scene.capture.n_layers, H=spec.H, G=spec.G))
