"""The query parameters of a run, read from the address bar and written back.

The link holds the non-default values of the parameters that the open page and section declare. Values of other pages
and sections stay in the session, and are restored when the user returns.

One change is one entry of the browser's history. After Back and Forward all parameters are read from the link again:
those it does not name are reset to their defaults.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from viz.params.memory import VALUES
from viz.params.parameter import Parameter
from viz.params.session import RECORD, Parameters, of_session

_NOTE = "history"
"""The query parameter by which ``frame/document`` reports Back or Forward, unique for each navigation; removed when the
run writes the address."""


def address_parameters() -> dict[str, str]:
    """Return the query parameters of the address bar."""
    return {name: value for name, value in st.query_params.to_dict().items() if name != _NOTE}


def begin() -> None:
    """Start a run: store the link of a new session, or after Back and Forward, before any widget is drawn."""
    if first := not RECORD.exists():
        RECORD.set(Parameters())
    record, note = of_session(), str(st.query_params.get(_NOTE, ""))
    is_navigation = not first and note not in ("", record.history_note)
    record.history_note = note or record.history_note
    if first or is_navigation:
        record.link = address_parameters()
        record.refused = []
        record.is_back, record.believed = not first, set()
        record.overruled, record.replacements = {}, {}
    else:
        undo_late_values()
    record.declared = {}
    record.fragments.owners, record.fragments.part = {}, ()


def undo_late_values() -> None:
    """Set again what Back or Forward has set, if the browser has sent the values before.

    It sends those of all widgets with each change, and has not received the answer while its address has the note; a
    callback of one of them may set others. Else they would undo the navigation, and the link of the one run would stand
    beside the picture of the other.
    """
    record, values = of_session(), VALUES.get() or st.session_state
    if record.history_note != st.query_params.get(_NOTE):
        return
    for name, value in record.overruled.items():
        if name not in values or values[name] != value:
            continue
        if name not in record.replacements:
            Parameter(name).forget()
        elif record.replacements[name] != value:
            Parameter(name).set(record.replacements[name])


def retain_in_link(*names: str) -> None:
    """Keep the values of parameters without a widget in this run, and keep them in the link.

    A value that is only in the link is validated when its parameter is declared.
    """
    record = of_session()
    record.kept.update(dict.fromkeys(names))
    retain(*names)
    for name in names:
        if name in (VALUES.get() or st.session_state):
            record.declared[name] = None
            record.fragments.owners.setdefault(name, record.fragments.part)


def retain(*names: str) -> None:
    """Keep the values of parameters without a widget in this run, but leave them out of the link."""
    record, values = of_session(), VALUES.get() or st.session_state
    for name in names:
        record.declared.pop(name, None)
        if Parameter(name).predates_navigation:
            Parameter(name).forget()
        elif name in values:
            # Streamlit drops the value of a widget that is not drawn, unless it is set again.
            st.session_state[name] = values[name]


def keep_unread() -> None:
    """Keep in the address what a run that fails has not read of it."""
    record = of_session()
    record.kept.update(dict.fromkeys(name for name in address_parameters() if name in record.link))


def take_invalid_names() -> list[str]:
    """Return the sorted names of parameters whose values in the link were invalid, and clear the list."""
    record = of_session()
    names, record.refused = record.refused, []
    return sorted(set(names))


def query_parameters(*names: str) -> dict[str, str]:
    """Return these parameters as query parameters for a link to another page, without defaults."""
    return {name: _write(name) for name in names if Parameter(name).is_chosen}


def _write(name: str) -> str:
    value: Any = (VALUES.get() or st.session_state)[name]
    parts = value if isinstance(value, list) else [int(value) if isinstance(value, bool) else value]
    text = "-".join(map(str, parts))
    return text[: of_session().longest.get(name)]


def link() -> dict[str, str]:
    """Return the query parameters of the current view: declared parameters that are chosen and not at the default."""
    record, values = of_session(), VALUES.get() or st.session_state
    waiting = {name: record.link[name] for name in record.kept if name in record.link}
    return waiting | {
        name: _write(name)
        for name, default in record.declared.items()
        if name in record.always or (values[name] != default and record.is_chosen(name, values[name]))
    }


def end(replace_entry: Callable[[Mapping[str, str]], None] = st.query_params.from_dict) -> None:
    """Finish a run: write the state into the address bar.

    ``replace_entry`` replaces the current entry of the browser's history. Streamlit itself can only add one.
    """
    record, wanted = of_session(), link()
    # The place is there in every run, so that a run without a message removes no element.
    place = st.empty()
    # After Back: the response to an earlier click may have arrived late and written its link into this entry.
    # On a new page: Streamlit has added an entry without query parameters, to which Back would lead.
    # A connection was lost with the answer to Back: the address has its note still.
    is_noted = _NOTE in st.query_params and wanted == address_parameters()
    if record.is_back or is_noted or (record.is_new_page and st.query_params.to_dict() != wanted):
        with place:
            replace_entry(wanted)
    elif not record.is_new_page:
        _write_address(wanted)
    if record.is_back:
        # Nothing that reads it was drawn: it is read when that is.
        for name in record.link:
            Parameter(name).forget()
    # `link` is kept: pages not opened yet still read their parameters from it.
    record.written, record.page, record.is_new_page, record.is_back = wanted, record.path, False, False
    record.fragments.drawn_values = {}
    record.fragments.note_drawn(())


def end_part(part: tuple[str, ...]) -> None:
    """Finish a run of one fragment: write the state into the address bar."""
    record, wanted = of_session(), link()
    _write_address(wanted)
    record.written = wanted
    record.fragments.note_drawn(part)


def _write_address(parameters: Mapping[str, str]) -> None:
    # Of two quick changes that undo each other, the second arrives with the address from before the first. So compare
    # with both: the address of the browser, and the link that was last sent.
    if not parameters == address_parameters() == of_session().written:
        st.query_params.from_dict(parameters)
