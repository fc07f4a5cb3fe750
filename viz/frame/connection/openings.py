"""Defaults that depend on the link a page is opened with: a link opens the picture that it was made of.

A link leaves out what is at its default. Some links open a page on something else: one that asks for nothing, or for a
section alone, on a text in the user's language; one of an earlier version of a page on that version's defaults. So a
link has to name whatever it would open differently.
"""

from collections.abc import Iterator, Mapping

from viz.frame import modes
from viz.frame.connection import visit
from viz.frame.examples import examples, what_is_read
from viz.frame.shared import HEAD, LANG, LAYER, MODEL, SECTION, TEXT
from viz.models import registry
from viz.params import Parameter, link
from viz.params.memory import Remembered
from viz.params.session import of_session

AS_OPENED = frozenset({"lang", "section"})
"""Parameters of a link that still opens the page at its defaults."""


def open_with(name: str, value: str) -> None:
    """Have a parameter's default be ``value``, unless a link of an earlier version names others and not this one.

    To be called before the parameter is declared.
    """
    if not Parameter(name).is_known:
        _is_old(name).set(_asks_for_more(of_session().link))
    if not of_session().preset and not _is_old(name).read():  # a lesson says itself what it shows
        of_session().preset = {name: value}


def name_in_link(name: str) -> None:
    """Have the link name a parameter of :func:`open_with` where the link alone would open it with the other default."""
    record, is_old = of_session(), _is_old(name).read()
    has_default = record.declared.get(name) is not None  # one without a widget in this run has none
    if has_default and (is_old or name in record.preset):
        forms = [{key: value for key, value in form.items() if key != name} for form in _forms()]
        if any(_asks_for_more(form) != is_old for form in forms):
            record.always |= {name}


def name_text_in_link(*, reads_bare: bool) -> None:
    """Have the link name the text, or the model, that it would open in the user's language instead.

    To be called before :func:`name_in_link`; ``reads_bare`` is that of :func:`visit.is_for_reader`.
    """
    record = of_session()
    record.always = frozenset()
    if any(visit.is_for_reader(form, LANG.value, reads_bare=reads_bare) for form in _forms()):
        record.always = frozenset(_names_to_add()[:1])  # with one parameter more it is no such link


def _names_to_add() -> list[str]:
    """Return which of text, model, layer and head a link in the user's language would replace."""
    page_defaults, choices = of_session().declared, what_is_read(LANG.value)
    defaults = {TEXT.name: examples()[0].text, MODEL.name: registry.entries()[0].id}
    names = [name for name in (*defaults, LAYER.name, HEAD.name) if name in choices.keys() & page_defaults.keys()]
    if TEXT.name in choices:  # a sentence and its model do not stay on a page that has its own
        names = [name for name in names if page_defaults[name] == defaults.get(name, page_defaults[name])]
    return [name for name in names if Parameter(name).value != choices[name]]


def _forms() -> Iterator[dict[str, str]]:
    """The link, and the same as it is shared: without the options of the view."""
    yield (current := link.link())
    yield {name: value for name, value in current.items() if name not in modes.parameters()}


def _asks_for_more(form: Mapping[str, str]) -> bool:
    """Return True if a link shows more of a page than the section it opens with."""
    return not form.keys() <= AS_OPENED or "all" in (form.get(SECTION.name), SECTION.has_value and SECTION.value)


def _is_old(name: str) -> Remembered[bool]:
    return Remembered(f"_{name}_of_an_old_link", default=False)
