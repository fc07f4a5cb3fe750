"""Controls whose value stands in the link: each names its parameter, its rule and its range once.

A control's key is its parameter's name, so that a link, a test and the screen mean the same thing. What is chosen
stays when the visitor changes pages. A control with one possible value is not drawn.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, Literal

import streamlit as st

from viz.frame import state
from viz.frame.connection.parameters import of_session, redraw_page

KEEP: Final = "session"  # persist_state: a control keeps its value when the visitor changes pages


def keep_apart(of: str, name: str) -> None:
    """Have a name mean something else here than in other places: each finds there again what was chosen in it."""
    held = st.session_state
    before, elsewhere = held.setdefault(f"_{name}_of", of), held.setdefault(f"_{name}_elsewhere", {})
    if before == of:
        return
    if state.is_chosen(name):
        elsewhere[before] = held[name]
    state.forget(name)
    held[f"_{name}_of"], chosen = of, elsewhere.pop(of, None)
    if chosen is not None and not state.is_of_before(name):  # after Back the link says what was chosen here
        state.choose(name, chosen)


def _send_again(name: str, span: Hashable) -> None:
    """Send a control its value where its range or its labels are others than in the run before.

    To Streamlit a slider with another range is another slider. It shows its lowest value in that run, or one that was
    kept from a page before and may lie above its end, though the session's own value is right. Of a list the browser
    keeps the label that was chosen, and goes on showing it where the options have other labels.
    """
    held = st.session_state
    if held.setdefault(f"_{name}_span", span) != span:
        held[f"_{name}_span"] = span
        state.put(name, held[name])


def _send_label(name: str, options: Iterable[Any], says: Callable[[Any], str]) -> None:
    """Send a list its value where one of its labels is new."""
    _send_again(name, hash(tuple(map(says, options))))  # of a long text the labels themselves are 20 kB


def _redrawing(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Have a control of a section whose parameter belongs to the page draw the page again at once."""
    known = of_session()
    belongs_to_page = known.owners[name] == known.part[:1] != known.part
    return {"on_change": redraw_page, **options} if belongs_to_page else options


def text_box(label: str, name: str, default: str, longest: int, *, draw: Callable[..., Any], **options: Any) -> str:
    """A text of the user's, as typed; the link carries ``longest`` characters at most.

    In a session's first run the browser may show another text than the link's: its page was open before, and what was
    typed there since was sent with this run. So the link's text is the box's default then, and what the box returns
    counts: to set it would write over what is being typed.

    Args:
        label: of the box.
        name: in the link.
        default: what the box holds where nobody typed or asked for anything.
        longest: of its characters.
        draw: Streamlit's function for the box.
        options: more for ``draw``.
    """
    is_unseen = state.is_unseen(name)
    text = state.text(name, default, longest)
    if not is_unseen:
        draw(label, key=name, persist_state=KEEP, **options)
        return text
    state.forget(name)
    return str(draw(label, value=text, key=name, persist_state=KEEP, **options))


def slider(label: str, name: str, default: int, low: int, high: int, **options: Any) -> int:
    """A whole number from ``low`` to ``high``."""
    value = state.whole(name, default, low, high)
    if low < high:
        _send_again(name, (low, high))
        st.slider(label, low, high, key=name, persist_state=KEEP, **_redrawing(name, options))
    return value


def real_slider(
    label: str, name: str, default: float, low: float, high: float, *, step: float, **options: Any
) -> float:
    """A number from ``low`` to ``high``."""
    value = state.real(name, default, low, high)
    _send_again(name, (low, high, step))
    st.slider(label, low, high, step=step, key=name, persist_state=KEEP, **_redrawing(name, options))
    return value


def number_input(label: str, name: str, default: int, low: int, high: int, **options: Any) -> int:
    """A whole number from ``low`` to ``high``, typed."""
    value = state.whole(name, default, low, high)
    st.number_input(label, low, high, key=name, persist_state=KEEP, **_redrawing(name, options))
    return value


def nearest(name: str, default: int, options: Sequence[int]) -> int:
    """One of a few whole numbers; another one after a change elsewhere goes to the nearest of them."""

    def closest(value: int) -> int:
        return min(options, key=lambda option: abs(option - value))

    value = st.session_state.get(name)
    if isinstance(value, int) and value not in options and state.is_chosen(name):
        state.put(name, closest(value))
    return state.pick(name, closest(default), options)


def select_slider(label: str, name: str, default: int, values: Sequence[int], **options: Any) -> int:
    """One of a few whole numbers."""
    value = state.pick(name, default, values)
    if len(values) > 1:
        stepped(label, name, values, **options)
    return value


def stepped(label: str, name: str, values: Sequence[float], **options: Any) -> None:
    """Draw a slider over a few numbers, one of which has been declared as the value of ``name``."""
    _send_label(name, values, options.get("format_func", str))
    st.select_slider(label, values, key=name, persist_state=KEEP, **_redrawing(name, options))


def selectbox(label: str, name: str, codes: Sequence[Any], says: Callable[[Any], str] = str, **options: Any) -> None:
    """Draw a list that opens, one of whose codes has been declared as the value of ``name``."""
    _send_label(name, codes, says)
    st.selectbox(label, codes, key=name, persist_state=KEEP, format_func=says, **_redrawing(name, options))


def multiselect(label: str, name: str, codes: Sequence[Any], says: Callable[[Any], str] = str, **options: Any) -> None:
    """Draw a list that opens, some of whose codes have been declared as the value of ``name``."""
    _send_label(name, codes, says)
    st.multiselect(label, codes, key=name, persist_state=KEEP, format_func=says, **_redrawing(name, options))


def choice(
    label: str,
    name: str,
    codes: Sequence[str],
    says: Callable[[str], str],
    *,
    default: str | None = None,
    look: Literal["segments", "pills", "list", "radio"] = "segments",
    **options: Any,
) -> str:
    """One of a few codes, which are the same in every language; ``says`` writes each for people.

    ``look``: a row of joined buttons, a row of pills, a list that opens, or a column with a button each.
    """
    value = state.choice(name, codes[0] if default is None else default, codes)
    common = {"key": name, "persist_state": KEEP, "format_func": says, **_redrawing(name, options)}
    if look == "segments":
        st.segmented_control(label, codes, required=True, **common)
    elif look == "pills":
        st.pills(label, codes, required=True, **common)
    elif look == "list":
        selectbox(label, name, codes, says, **options)
    else:
        _send_label(name, codes, says)
        st.radio(label, codes, **common)
    return value


def toggle(label: str, name: str, default: bool = False, **options: Any) -> bool:
    """On or off."""
    value = state.flag(name, default)
    st.toggle(label, key=name, persist_state=KEEP, **_redrawing(name, options))
    return value


def several(label: str, name: str, last: int, says: Callable[[int], str], **options: Any) -> list[int]:
    """Some of the whole numbers from 0 to ``last``, none at first."""
    value = state.numbers(name, 0, last)
    st.pills(
        label,
        range(last + 1),
        selection_mode="multi",
        key=name,
        persist_state=KEEP,
        format_func=says,
        **_redrawing(name, options),
    )
    return value
