"""Defaults that depend on the page or the user's language: a link opens the picture that it was made of."""

from viz.frame import modes
from viz.frame.connection import visit
from viz.frame.examples import examples, what_is_read
from viz.frame.shared import HEAD, LANG, LAYER, MODEL, TEXT
from viz.models import registry
from viz.params import Parameter, link
from viz.params.session import of_session


def open_with(name: str, value: str) -> None:
    """Have a parameter's default be ``value``. To be called before the parameter is declared."""
    # A lesson has its own presets.
    if not of_session().preset:
        of_session().preset = {name: value}


def name_text_in_link(*, reads_bare: bool) -> None:
    """Have the link, which leaves out defaults, name the text or model that it would open in the user's language."""
    record, lang = of_session(), LANG.value
    record.always = frozenset()
    current = link.link()
    # The same as it is shared has no options of the view.
    shared = {name: current[name] for name in current.keys() - modes.parameters()}
    if any(visit.is_for_reader(form, lang, reads_bare=reads_bare) for form in (current, shared)):
        record.always = frozenset(_names_to_add()[:1])


def _names_to_add() -> list[str]:
    """Return which of text, model, layer and head a link in the user's language would replace."""
    page_defaults, choices = of_session().declared, what_is_read(LANG.value)
    defaults = {TEXT.name: examples()[0].text, MODEL.name: registry.entries()[0].id}
    names = [name for name in (*defaults, LAYER.name, HEAD.name) if name in choices.keys() & page_defaults.keys()]
    # A sentence and its model do not stay on a page that has its own.
    if TEXT.name in choices:
        names = [name for name in names if page_defaults[name] == defaults.get(name, page_defaults[name])]
    return [name for name in names if Parameter(name).value != choices[name]]
