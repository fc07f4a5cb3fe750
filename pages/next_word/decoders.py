"""The available decoders, and the page's defaults with them."""

from pages.next_word.parameters import OF_THE_TEXT
from pages.next_word.presets import TWINS, opening, presets, presets_for
from viz.frame.available_models import is_here, models_here
from viz.frame.compute import model
from viz.frame.examples import examples, stash_text
from viz.frame.inputs import first_text, own_model
from viz.frame.shared import LANG, MODEL, SOURCE, TEXT
from viz.models.registry import SMALL_DECODER
from viz.models.stream import has_words


def decoders() -> list[str]:
    """Return the available models with a vocabulary head, the largest first; the twins last."""
    entries = [entry for entry in models_here().values() if entry.writes and not entry.of and is_here(entry.id)]
    return [entry.id for entry in sorted(entries, key=lambda entry: (entry.id in TWINS, -entry.parameters))]


def twin() -> str:
    """Return the default decoder of seeded heads, a twin; "" if it is not available."""
    return next((name for name in TWINS if name in decoders()), "")


def default_model() -> str:
    """Return the default decoder: the small one, or else a twin; "" if none is available."""
    available = decoders()
    return next((name for name in (SMALL_DECODER, *TWINS) if name in available), "")


def default_text() -> str:
    """Return the default text: the preset of the default decoder, but the app's with a decoder of the user's choice."""
    default = default_model()
    if not default:
        return first_text()
    stash_text(with_model=True)
    name = own_model(default)
    entry = models_here().get(name)
    if entry and entry.id != default and (entry.writes or (entry.path is not None and has_words(model(entry.id)))):
        return first_text()
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
