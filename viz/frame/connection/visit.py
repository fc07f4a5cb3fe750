"""The visit of this run: the link that opened it, if anything was chosen before, and its end with a connection."""

from collections.abc import Mapping
from datetime import timedelta

import streamlit as st

from viz.params import Parameter
from viz.params.link import address_parameters
from viz.params.memory import Remembered
from viz.params.session import of_session

_IS_PLAIN_FIRST_VISIT: Remembered[bool | None] = Remembered("_here", default=None)
_LINK: Remembered[list[str]] = Remembered("_link_names")
_NO_CHOICES_BEFORE: Remembered[bool] = Remembered("_untouched", default=False)
_CAME_WITHOUT_CHOICES: Remembered[bool] = Remembered("_comes")


def begin() -> None:
    """Start a run, after its state: look at how it came about."""
    names = list(address_parameters())
    asks_for_nothing = set(names) <= {"lang"}
    is_first = _IS_PLAIN_FIRST_VISIT.read() is None
    _LINK.set(names if is_first or of_session().is_back else [])
    _CAME_WITHOUT_CHOICES.set(_NO_CHOICES_BEFORE.take() and asks_for_nothing)
    _IS_PLAIN_FIRST_VISIT.set(asks_for_nothing if is_first else False)


def is_for_reader(link: Mapping[str, str], lang: str, *, reads_bare: bool) -> bool:
    """Return True if a page opens a link on a text in the user's language.

    A link that names a section alone is one for a user who reads Chinese: an English sentence says nothing there. One
    that asks for nothing, but perhaps for a language, is one if the page ``reads_bare`` links so.
    """
    if link.keys() <= {"lang"}:
        return reads_bare
    return lang == "zh" and link.keys() <= {"lang", "section"} and link["section"] != "all"


def came_for_reader(lang: str, *, reads_bare: bool) -> bool:
    """Return True if this page is to be opened on a text in the user's language.

    That is so by its link, or if the user comes from a page without a text, has chosen nothing, and the link has no
    parameters.
    """
    if _CAME_WITHOUT_CHOICES.read():
        return True
    names = _LINK.read()
    link = {name: value for name, value in address_parameters().items() if name in names}
    return is_for_reader(link, lang, reads_bare=reads_bare and bool(_IS_PLAIN_FIRST_VISIT.read()))


def stay_untouched(*names: str) -> None:
    """Note for the next run that none of these parameters has been chosen, if it is so."""
    _NO_CHOICES_BEFORE.set(not any(Parameter(name).is_chosen for name in names))


@st.fragment(run_every=timedelta(days=1))
def come_back() -> None:
    """Have the browser ask for a run whenever it is connected again, to this server or to another one.

    It does so for a page with a timed part only. Any other page keeps its picture, but the session behind it may be a
    new one (its server ended, or it was away for too long) that has never run: the next change would be overruled by
    the link. With this, everything has been rebuilt from the link before anybody acts.
    """
