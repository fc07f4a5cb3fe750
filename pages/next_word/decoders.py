"""The available decoders, the page's defaults with them, and what it says where none of them writes English."""

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.next_word.parameters import OF_THE_TEXT
from pages.next_word.presets import TWINS, opening, presets, presets_for
from viz.frame.available_models import is_here, listed_entries, megabytes_to_fetch, models_here
from viz.frame.compute import DEFAULT_MODEL, model
from viz.frame.examples import examples, stash_text
from viz.frame.inputs import first_text, own_model
from viz.frame.shared import LANG, MODEL, SOURCE, TEXT
from viz.models.registry import SMALL_DECODER
from viz.models.stream import has_words
from viz.models.trained.twins import words
from viz.text import Translate, paragraph


def decoders() -> list[str]:
    """Return the available models with a vocabulary head, the largest first; the twins last."""
    entries = [entry for entry in models_here().values() if entry.writes and not entry.of and is_here(entry.id)]
    return [entry.id for entry in sorted(entries, key=lambda entry: (entry.id in TWINS, -entry.parameters))]


def twin() -> str:
    """Return the default decoder of seeded heads, a twin; "" if it is not available."""
    return next((name for name in TWINS if name in decoders()), "")


def default_decoder() -> str:
    """Return the decoder that reads if none is chosen: the small one, or else a twin; "" if none is available."""
    available = decoders()
    return next((name for name in (SMALL_DECODER, *TWINS) if name in available), "")


def default_model() -> str:
    """Return the page's default model: a decoder that writes English, or the app's, which has nothing to say."""
    return DEFAULT_MODEL if default_decoder() in TWINS else default_decoder()


def default_text() -> str:
    """Return the default text: the preset of the default decoder, but the app's with a decoder of the user's choice."""
    default = default_decoder()
    if not default:
        return first_text()
    stash_text(with_model=True)
    name = own_model(default_model())
    entry = models_here().get(name)
    if entry and entry.id != default and (entry.writes or (entry.path is not None and has_words(model(entry.id)))):
        return first_text()
    if name and name != default and default in TWINS:
        # The app's model knows no Chinese.
        return opening(SMALL_DECODER, "en").text
    return opening(default if name else twin() or default, LANG.value).text


def take(name: str) -> None:
    """Select a decoder; users without a typed text get one in words that it knows."""
    shipped = {example.text for example in examples()} | {preset.text for preset in presets()}
    if not TEXT.is_chosen or TEXT.value in shipped:
        take_preset(name, opening(name, LANG.value).code)
    SOURCE.choose("model")
    MODEL.choose(name)


def take_preset(name: str, code: str) -> None:
    """Select one of a decoder's texts with its defaults."""
    preset = presets_for(name)[code]
    TEXT.choose(preset.text)
    # The text's settings are the defaults.
    for parameter in OF_THE_TEXT:
        parameter.forget()


def offer_decoder(t: Translate, name: str, silent: str) -> None:
    """Offer to fetch the decoder that writes English, and below it the twin that is here."""
    with row("missing"):
        st.caption(paragraph(silent, t("next_word.missing", model=SMALL_DECODER)), width="content")
        if megabytes_to_fetch(SMALL_DECODER):
            _fetch_button(t, "primary")
    with row("take"):
        st.caption(_what_twin_is(t, name), width="content")
        preset_button(t, name)


def describe_twin(t: Translate, name: str) -> None:
    """Say what a twin is; where the decoder that writes English is not here, say so, with a button to fetch it."""
    sentence = _what_twin_is(t, name)
    if is_here(SMALL_DECODER) or SMALL_DECODER not in {entry.id for entry in listed_entries()}:
        st.caption(sentence)
        return
    with row("missing"):
        st.caption(paragraph(sentence, t("next_word.missing", model=SMALL_DECODER)), width="content")
        if megabytes_to_fetch(SMALL_DECODER):
            _fetch_button(t, "secondary")


def row(name: str) -> DeltaGenerator:
    """Return a place for a sentence with its buttons beside it."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"next_{name}")


def preset_button(t: Translate, name: str) -> None:
    """Draw the button that opens a decoder."""
    st.button(t("next_word.take", model=name), key=f"take_{name}", on_click=take, args=(name,), type="tertiary")


def _what_twin_is(t: Translate, name: str) -> str:
    return t("next_word.twin", model=name, n=len(words()))


def _fetch_button(t: Translate, kind: Literal["primary", "secondary"]) -> None:
    label = t("choice.fetch", mb=megabytes_to_fetch(SMALL_DECODER))
    st.button(label, key="next_fetch", on_click=take, args=(SMALL_DECODER,), type=kind)
