"""The page, and in it each section, as Streamlit fragments: a control has only the fragment around it drawn again.

A fragment holds small values, never tensors or traces: those come from the cache again in each of its runs. The values
that everything else on the screen was drawn with are noted; if a control changes one of these, all is drawn again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import streamlit as st

from viz.errors import ModelError
from viz.frame import modes, queue_notice
from viz.params.link import end_part, undo_late_values
from viz.params.memory import read_once
from viz.params.session import PAGE, of_session


def fragment(name: str, draw: Callable[[], None], on_error: Callable[[ModelError], None]) -> None:
    """Draw a part of the screen as a fragment, to which the parameters belong that it declares.

    Streamlit holds ``draw`` until what is around it is drawn again, so it may hold small values only. ``on_error`` says
    what went wrong with a computation.
    """
    path, memories, is_first = (*of_session().fragments.part, name), modes.memories(), True

    def run() -> None:
        nonlocal is_first
        is_alone, is_first = not is_first, False
        with read_once() if is_alone else nullcontext():
            if is_alone and not _begin(path):
                st.rerun()
            modes.remember(memories)
            try:
                with queue_notice.writing(PAGE if name == PAGE else "section", is_alone=is_alone), _declaring(path):
                    draw()
            except ModelError as error:
                # The server is busy or the computation failed: the user's text stays in its box.
                on_error(error)
            if is_alone:
                if any(mode.is_out_of_date() for mode in modes.of_run()):
                    st.rerun()
                end_part(path)

    st.fragment(run, key=name if name == PAGE else None)()


@contextmanager
def _declaring(path: tuple[str, ...]) -> Iterator[None]:
    """Assign the parameters declared inside the ``with`` to a fragment."""
    fragments = of_session().fragments
    fragments.part = path
    try:
        yield
    finally:
        fragments.part = path[:-1]


def _begin(path: tuple[str, ...]) -> bool:
    """Start a run of one fragment; False if what stands around it was drawn with other values than there are now."""
    record = of_session()
    undo_late_values()
    if record.fragments.is_out_of_date(path):
        return False
    for name in record.fragments.declared_inside(path):
        # A parameter that is left out of the link is not in this dictionary.
        record.declared.pop(name, None)
        del record.fragments.owners[name]
    return True
