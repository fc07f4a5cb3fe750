"""The query parameters of a run, read from the address bar and written back.

The link holds the non-default values of the parameters that the open page and section declare. Values of other pages
and sections stay in the session, and are restored when the user returns.

One change is one entry of the browser's history. After Back and Forward all parameters are read from the link again:
those it does not name are reset to their defaults.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from viz.params import address, session
from viz.params.session import of_session


def begin() -> None:
    """Start a run: store the link of a new session, or after Back and Forward, before any widget is drawn."""
    if first := not session.exist():
        session.make()
    record = of_session()
    record.note_history(address.history_note(), is_first=first)
    if first or record.is_back:
        record.link = address.address_parameters()
        record.refused = []
        record.believed = None if first else set()
    record.declared, record.owners, record.part = {}, {}, ()


def preset(values: Mapping[str, str]) -> None:
    """Use the parameters of a link as defaults of this run. Call it before they are declared.

    A lesson's step sets what it shows this way: the link then holds only the step and the user's own changes.
    """
    of_session().preset = values


def presets() -> Mapping[str, str]:
    """Return the presets of this run."""
    return of_session().preset


def has_query(query: str) -> bool:
    """Return True if the session's link has ``name`` and nothing has declared it yet, or has ``name=value``.

    ``name=value`` is for parameters of earlier versions, which nothing declares any more; it is removed from the link.
    """
    session_link = of_session().link
    name, has_value, value = query.partition("=")
    if not has_value:
        return name in session_link
    return session_link.get(name) == value and session_link.pop(name) == value


def retain_in_link(*names: str) -> None:
    """Keep the values of parameters without a widget in this run, and keep them in the link.

    A value that is only in the link is validated when its parameter is declared.
    """
    record = of_session()
    record.kept = names
    retain(*names)
    for name in names:
        if name in st.session_state:
            record.declare(name, record.declared.get(name))


def retain(*names: str) -> None:
    """Keep the values of parameters without a widget in this run, but leave them out of the link."""
    state = st.session_state
    for name in names:
        if name not in state:
            continue
        if of_session().predates_navigation(name):
            del state[name]
        else:
            state[name] = state[name]  # else Streamlit drops the value of a widget that is not drawn


def take_invalid_names() -> list[str]:
    """Return the sorted names of parameters whose values in the link were invalid, and clear the list."""
    record = of_session()
    names, record.refused = record.refused, []
    return sorted(set(names))


def query_parameters(*names: str) -> dict[str, str]:
    """Return these parameters as query parameters for a link to another page, without defaults."""
    return {name: _write(name) for name in names if of_session().is_chosen(name)}


def _write(name: str) -> str:
    value: Any = st.session_state[name]
    parts = value if isinstance(value, list) else [int(value) if isinstance(value, bool) else value]
    text = "-".join(map(str, parts))
    return text[: of_session().longest.get(name)]


def link() -> dict[str, str]:
    """Return the query parameters of the current view: declared parameters that are chosen and not at the default."""
    state, record = st.session_state, of_session()
    in_link = [
        n
        for n, default in record.declared.items()
        if n in record.always or (state[n] != default and record.is_chosen(n))
    ]
    waiting = {name: record.link[name] for name in record.kept if name in record.link}
    return waiting | {name: _write(name) for name in in_link}


def end() -> None:
    """Finish a run: write the state into the address bar."""
    record, wanted = of_session(), link()
    in_address = address.address_parameters()
    before = wanted if record.written is None else record.written
    place = st.empty()  # in every run, so that a run without a message does not remove an element
    # After Back: the response to an earlier click may have arrived late and written its link into this entry.
    # On a new page: Streamlit has added an entry without query parameters, so the link replaces that one.
    if record.is_back or (record.is_new_page and st.query_params.to_dict() != wanted):
        with place:
            address.replace(wanted, record.path)
    # Of two quick changes that undo each other, the second arrives with the address from before the first. So compare
    # with both: the address of the browser, and the link that was last sent.
    elif not record.is_new_page and (in_address != wanted or before != wanted):
        st.query_params.from_dict(wanted)
    # `link` is kept: pages not opened yet still read their parameters from it.
    record.written, record.page, record.believed = wanted, record.path, None
    record.drawn_values = {}
    record.note_drawn(record.owners)


def end_part(part: tuple[str, ...]) -> None:
    """Finish a run of one fragment: write the state into the address bar."""
    record, wanted = of_session(), link()
    if record.written != wanted or address.address_parameters() != wanted:
        st.query_params.from_dict(wanted)
    record.written = wanted
    record.note_drawn(record.declared_inside(part))
