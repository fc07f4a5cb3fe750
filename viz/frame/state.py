"""The state of the page is its link: every control has a name, a default and a rule, and the same name in the URL.

A parameter's name is its widget's key. What a link asks for is believed only if the rule allows it; the rest falls
back to the default, and the visitor is told.

The link holds what the visitor chose, and no default: a value nobody chose is each page's own, and not carried to the
next. It holds what the open page and section declare. What was chosen elsewhere (another section, another page) is not
in it, but stays with the session, and is there again when the visitor comes back.

One choice is one entry of the browser's history. Back and Forward have the link believed once more, and wholly: what
it does not name goes back to its default.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import streamlit as st

from viz.frame.connection import address, crossings, parameters
from viz.frame.connection.parameters import Parameters, of_session

T = TypeVar("T")


def begin() -> None:
    """Start a run: note the link this session was opened with, or Back and Forward led to, before any control."""
    if first := not parameters.exist():
        parameters.make()
    known = of_session()
    known.note_history(address.history_note(), is_first=first)
    if first or known.is_back:
        known.link = address.asked_link()
        known.refused = []
        known.believed = None if first else set()
    known.declared, known.owners, known.part = {}, {}, ()


def preset(link: Mapping[str, str]) -> None:
    """Have the parameters of a link be the defaults of this run: to be called before they are declared.

    A lesson's step says so what it shows: nobody has chosen that, so the step alone stands in the link, and what the
    visitor changes beside it.
    """
    of_session().preset = link


def presets() -> Mapping[str, str]:
    """What was preset in this run."""
    return of_session().preset


def _default(known: Parameters, name: str, default: T, parse: Callable[[str], T], ok: Callable[[T], bool]) -> T:
    """A parameter's default: the page's, unless one is preset that the rule allows."""
    raw = known.preset.get(name)
    if raw is not None:
        with suppress(ValueError):
            if ok(value := parse(raw)):
                return value
    return default


def is_of_before(name: str) -> bool:
    """Whether a parameter's value is of before Back or Forward, which led to a link that has not been asked for it."""
    return of_session().is_of_before(name)


def is_chosen(name: str) -> bool:
    """Whether a parameter has a value other than the default that was put there because nobody chose one."""
    state, usual = st.session_state, of_session().usual
    return name in state and not (name in usual and state[name] == usual[name])


def is_moved() -> bool:
    """Whether this is the first run of a page, or none before it came to its end."""
    known = of_session()
    return known.page != known.path


def param(name: str, default: T, parse: Callable[[str], T], ok: Callable[[T], bool]) -> T:
    """Declare a parameter and give its present value, which always satisfies ``ok``.

    Args:
        name: its name in the link, and its widget's key.
        default: what it is when nobody said anything (left out of the link).
        parse: reads it from the link; ValueError means it cannot be read.
        ok: the rule. It may depend on other parameters and is asked again in every run.
    """
    state, known = st.session_state, of_session()
    default, is_declared, usual = _default(known, name, default, parse, ok), name in known.declared, known.usual
    known.declare(name, default)
    if name not in state or known.is_of_before(name):
        usual.pop(name, None)
        value = crossings.set_value(name, _believe(known, name, default, parse, ok))
    else:
        value = state[name]
        if value != default and (not ok(value) or (not is_declared and not is_chosen(name))):
            value = crossings.set_value(name, default)
        elif not is_declared and is_moved():
            # Another page's widget of this name is another one to Streamlit, and begins empty unless given a value.
            state[name] = value
        elif not is_declared and crossings.has_crossed(name):
            crossings.set_value(name, value)
    if value == default:
        usual[name] = default
    elif is_chosen(name):
        usual.pop(name, None)
    return value


def _believe(known: Parameters, name: str, default: T, parse: Callable[[str], T], ok: Callable[[T], bool]) -> T:
    """What the link asks for, if it does and the rule allows it."""
    if known.believed is not None:
        known.believed.add(name)
    raw = known.link.pop(name, None)
    if raw is None:
        return default
    with suppress(ValueError):
        if ok(value := parse(raw)):
            return value
    known.refused.append(name)
    return default


def is_known(name: str) -> bool:
    """Whether a parameter has a value already, or the link gives it one, or it is preset."""
    known = of_session()
    return (name in st.session_state and not known.is_of_before(name)) or name in known.link or name in known.preset


def asked(wanted: str) -> bool:
    """Whether the link this session was opened with still asks for ``name``, or for ``name=value``; the latter once.

    A parameter is no longer asked for when it has been declared. ``name=value`` is for parameters of earlier versions,
    which nothing declares any more.
    """
    link = of_session().link
    name, has_value, value = wanted.partition("=")
    if not has_value:
        return name in link
    return link.get(name) == value and link.pop(name) == value


def belong_to(of: Any, *names: str) -> None:
    """Forget what was chosen on another page, say: there the same name means something else."""
    state, owner = st.session_state, f"_{names[0]}_of"
    if state.setdefault(owner, of) != of:
        for name in names:
            forget(name)
    state[owner] = of


def whole(name: str, default: int, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``; out of range after a change elsewhere, it goes to the nearest end."""
    value = st.session_state.get(name)
    if isinstance(value, int) and not low <= value <= high and is_chosen(name):
        put(name, min(max(value, low), high))
    return param(name, min(max(default, low), high), int, lambda value: isinstance(value, int) and low <= value <= high)


def real(name: str, default: float, low: float, high: float) -> float:
    """A number from ``low`` to ``high``; NaN is none."""
    return param(name, default, float, lambda value: isinstance(value, int | float) and low <= value <= high)


def choice(name: str, default: str, options: Sequence[str]) -> str:
    """One of a few codes. Codes are the same in every language."""
    return param(name, default, str, lambda value: value in options)


def pick(name: str, default: int, options: Sequence[int]) -> int:
    """One of a few whole numbers."""
    return param(name, default, int, lambda value: value in options)


def flag(name: str, default: bool = False) -> bool:
    """On or off."""
    return param(name, default, lambda raw: bool(int(raw)), lambda _: True)


def numbers(name: str, low: int, high: int, default: Sequence[int] = ()) -> list[int]:
    """Some whole numbers from ``low`` to ``high``, each once."""

    def parse(raw: str) -> list[int]:
        return [int(part) for part in raw.split("-") if part]

    def ok(chosen: list[int]) -> bool:
        return all(low <= number <= high for number in chosen) and len(set(chosen)) == len(chosen)

    return param(name, list(default), parse, ok)


def text(name: str, default: str, longest: int) -> str:
    """A text of the visitor's, as typed, in a box of that name; the link carries ``longest`` characters at most."""
    of_session().longest[name] = longest
    return param(name, default, str, lambda _: True)


def is_unseen(name: str) -> bool:
    """Return whether this session has had no run that came to its end, nor a value of this parameter."""
    return of_session().page is None and name not in st.session_state


def put(name: str, value: Any) -> None:
    """Set a parameter from the page, before its widget is made in this run (or in a callback)."""
    crossings.set_value(name, value)
    if (believed := of_session().believed) is not None:
        believed.add(name)


def choose(name: str, value: Any) -> None:
    """Set a parameter as :func:`put` does, and have it count as chosen even if it has been a default until now."""
    put(name, value)
    of_session().usual.pop(name, None)


def forget(name: str) -> None:
    """Have nothing chosen: the parameter is at its default when it is next declared."""
    st.session_state.pop(name, None)


def leave_out(name: str, usual: Any) -> None:
    """Have another value than the default left out of the link; whatever is shown then counts as chosen."""
    known = of_session()
    if known.declared[name] != usual:
        known.declared[name] = usual
        known.usual.pop(name, None)


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
        if is_of_before(name):
            del state[name]
        else:
            state[name] = state[name]  # a control of this name is another one to Streamlit when it comes back


def refused() -> list[str]:
    """Names in the link whose values were not allowed; told once."""
    known = of_session()
    names, known.refused = known.refused, []
    return sorted(set(names))


def chosen(*names: str) -> dict[str, str]:
    """What a link to another page has to say of these parameters, to take along what was chosen."""
    state, longest = st.session_state, of_session().longest
    return {name: _write(state[name])[: longest.get(name)] for name in names if is_chosen(name)}


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return "-".join(map(str, value)) if isinstance(value, list) else str(value)


def link() -> dict[str, str]:
    """What a link to this picture holds: every declared parameter that was chosen and is not at its default."""
    state, known = st.session_state, of_session()
    changed = [n for n, usual in known.declared.items() if n in known.always or (state[n] != usual and is_chosen(n))]
    waiting = {name: known.link[name] for name in known.kept if name in known.link}
    return waiting | {name: _write(state[name])[: known.longest.get(name)] for name in changed}


def end() -> None:
    """Finish a run: write the state into the address bar."""
    known, wanted = of_session(), link()
    in_address = address.asked_link()
    before = wanted if known.written is None else known.written
    place = st.empty()  # there in every run, so that a run without a word to the browser takes nothing from the page
    # The answer to a click of just before "back" may have come after it, and have put its link into this entry; of a
    # page that was opened Streamlit made an entry of its address alone: the link belongs to that one.
    if known.is_back or (is_moved() and st.query_params.to_dict() != wanted):
        with place:
            address.replace(wanted, known.path)
    # Of two quick changes that undo each other the second is sent with the address from before the first: what the
    # browser says is where it was, what was last written is where it will be.
    elif not is_moved() and (in_address != wanted or before != wanted):
        st.query_params.from_dict(wanted)
    # A page not opened yet may still want its part of the link the session came with.
    known.written, known.page, known.believed = wanted, known.path, None
    known.drawn_with = {}
    known.note_drawn(known.owners)
