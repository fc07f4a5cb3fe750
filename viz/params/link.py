"""The link of a run, from the address bar and back into it.

The link holds what the user chose, and no default, of what the open page and section declare. What was chosen elsewhere
(another section, another page) is not in it, but stays with the session, and is there again when the user comes back.

One choice is one entry of the browser's history. Back and Forward have the link believed once more, and wholly: what
it does not name goes back to its default.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from viz.params import address, session
from viz.params.session import of_session


def begin() -> None:
    """Start a run: note the link this session was opened with, or Back and Forward led to, before any control."""
    if first := not session.exist():
        session.make()
    known = of_session()
    known.note_history(address.history_note(), is_first=first)
    if first or known.is_back:
        known.link = address.asked_link()
        known.refused = []
        known.believed = None if first else set()
    known.declared, known.owners, known.part = {}, {}, ()


def preset(values: Mapping[str, str]) -> None:
    """Have the parameters of a link be the defaults of this run: to be called before they are declared.

    A lesson's step says so what it shows: nobody has chosen that, so the step alone stands in the link, and what the
    user changes beside it.
    """
    of_session().preset = values


def presets() -> Mapping[str, str]:
    """Return what was preset in this run."""
    return of_session().preset


def asked(wanted: str) -> bool:
    """Return whether the link of this session still asks for ``name``, or for ``name=value``; for the latter once.

    A parameter is no longer asked for when it has been declared. ``name=value`` is for parameters of earlier versions,
    which nothing declares any more.
    """
    asked_for = of_session().link
    name, has_value, value = wanted.partition("=")
    if not has_value:
        return name in asked_for
    return asked_for.get(name) == value and asked_for.pop(name) == value


def keep(*names: str) -> None:
    """Keep parameters of which this run has no control: their values, and what they say in the link.

    What the link asks for is believed when there is a control for it.
    """
    known = of_session()
    known.kept = names
    hold(*names)
    for name in names:
        if name in st.session_state:
            known.declare(name, known.declared.get(name))


def hold(*names: str) -> None:
    """Keep the values of parameters of which this run has no control, and nothing of them in its link."""
    state = st.session_state
    for name in names:
        if name not in state:
            continue
        if of_session().is_of_before(name):
            del state[name]
        else:
            state[name] = state[name]  # a control of this name is another one to Streamlit when it comes back


def refused() -> list[str]:
    """Return the names in the link whose values were not allowed; once."""
    known = of_session()
    names, known.refused = known.refused, []
    return sorted(set(names))


def chosen(*names: str) -> dict[str, str]:
    """Return what a link to another page has to say of these parameters, to take along what was chosen."""
    return {name: _write(name) for name in names if of_session().is_chosen(name)}


def _write(name: str) -> str:
    value: Any = st.session_state[name]
    parts = value if isinstance(value, list) else [int(value) if isinstance(value, bool) else value]
    written = "-".join(map(str, parts))
    return written[: of_session().longest.get(name)]


def link() -> dict[str, str]:
    """Return what a link to this picture holds: every declared parameter that was chosen and is not at its default."""
    state, known = st.session_state, of_session()
    changed = [
        n for n, usual in known.declared.items() if n in known.always or (state[n] != usual and known.is_chosen(n))
    ]
    waiting = {name: known.link[name] for name in known.kept if name in known.link}
    return waiting | {name: _write(name) for name in changed}


def end() -> None:
    """Finish a run: write the state into the address bar."""
    known, wanted = of_session(), link()
    in_address = address.asked_link()
    before = wanted if known.written is None else known.written
    place = st.empty()  # there in every run, so that a run without a word to the browser takes nothing from the page
    # The answer to a click of just before "back" may have come after it, and have put its link into this entry; of a
    # page that was opened Streamlit made an entry of its address alone: the link belongs to that one.
    if known.is_back or (known.is_moved and st.query_params.to_dict() != wanted):
        with place:
            address.replace(wanted, known.path)
    # Of two quick changes that undo each other the second is sent with the address from before the first: what the
    # browser says is where it was, what was last written is where it will be.
    elif not known.is_moved and (in_address != wanted or before != wanted):
        st.query_params.from_dict(wanted)
    # A page not opened yet may still want its part of the link the session came with.
    known.written, known.page, known.believed = wanted, known.path, None
    known.drawn_with = {}
    known.note_drawn(known.owners)


def end_part(part: tuple[str, ...]) -> None:
    """Finish a run of one fragment: write the state into the address bar."""
    known, wanted = of_session(), link()
    if known.written != wanted or address.asked_link() != wanted:
        st.query_params.from_dict(wanted)
    known.written = wanted
    known.note_drawn(known.declared_in(part))
