"""The decoders that are here, and what the page opens on with them."""

from pages.next_word.parameters import OF_THE_TEXT
from pages.next_word.presets import TWINS, opening, presets, presets_for
from viz.frame.choice import first_text, own_model
from viz.frame.compute import model
from viz.frame.examples import examples, keep_old_choice, lay_aside
from viz.frame.models_here import files_here, models_here
from viz.frame.shared import LANG, MODEL, SOURCE, TEXT
from viz.models.registry import SMALL_DECODER
from viz.models.stream import has_words


def decoders() -> list[str]:
    """The models on this machine that have words to say, the largest first; the twins behind them."""
    found = [entry for entry in models_here().values() if entry.writes and not entry.of and files_here(entry.id)]
    return [entry.id for entry in sorted(found, key=lambda entry: (entry.id in TWINS, -entry.parameters))]


def twin() -> str:
    """Return the decoder that reads where heads are seeded, as it always did; "" if it is not here."""
    return next((name for name in TWINS if name in decoders()), "")


def usual_model() -> str:
    """Return the decoder that reads where none is chosen: the small one, or else a twin; "" if none is here."""
    known = decoders()
    return next((name for name in (SMALL_DECODER, *TWINS) if name in known), "")


def usual_text() -> str:
    """Return the text of users who have typed none: the opening's, but the app's with a decoder of their choice."""
    usual = usual_model()
    if not usual or keep_old_choice(usual):
        return first_text()
    lay_aside(with_model=True)
    name = own_model(usual)
    chosen = models_here().get(name)
    if chosen and chosen.id != usual and (chosen.writes or (chosen.path is not None and has_words(model(chosen.id)))):
        return first_text()
    return opening(usual if name else twin() or usual, LANG.value).text


def take(name: str) -> None:
    """Choose a decoder; who has typed nothing yet is given a text that it knows the words of."""
    shipped = {example.text for example in examples()} | {preset.text for preset in presets()}
    if not TEXT.is_chosen or TEXT.value in shipped:
        take_preset(name, opening(name, LANG.value).code)
    SOURCE.choose("model")
    MODEL.choose(name)


def take_preset(name: str, code: str) -> None:
    """Choose one of the texts that a decoder is offered with, and what suits it."""
    preset = presets_for(name)[code]
    TEXT.choose(preset.text)
    for parameter in OF_THE_TEXT:  # what suits the text is the default
        parameter.forget()
