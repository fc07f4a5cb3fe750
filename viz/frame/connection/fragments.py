"""The page, in it what depends on the text, and in that a section, as fragments: a control has its own drawn again.

A fragment holds small values, never tensors or traces: those come from the cache again in each of its runs. The values
that everything else on the screen was drawn with are noted; if a control changes one of these, all is drawn again.
"""

from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from viz.errors import ModelError
from viz.frame import modes, queue_notice
from viz.frame.modes import Draw
from viz.params.link import end_part, undo_late_values
from viz.params.memory import read_once
from viz.params.session import PAGE, SCENE, of_session


def fragment(name: str, draw: Draw, on_error: Callable[[ModelError], None], finish: Draw | None = None) -> None:
    """Draw a part of the screen as a fragment, to which the parameters belong that it declares.

    Streamlit holds ``draw`` until what is around it is drawn again, so it may hold small values only. ``on_error`` says
    what went wrong with a computation, and ``finish`` ends a run of the fragment alone.
    """
    path, memories, is_first, has_failed = (*of_session().fragments.part, name), modes.memories(), True, False

    def run() -> None:
        nonlocal is_first, has_failed
        is_alone, is_first = not is_first, False
        with read_once() if is_alone else nullcontext():
            # Streamlit has no place outside a fragment for what was not drawn there at first.
            if is_alone and (has_failed or not _begin(path)):
                st.rerun()
            modes.remember(memories)
            has_failed, fragments = True, of_session().fragments
            fragments.part = path
            try:
                with queue_notice.writing(is_alone=is_alone):
                    draw()
                has_failed = False
            except ModelError as error:
                # The server is busy or the computation failed: the user's text stays in its box.
                on_error(error)
            finally:
                fragments.part = path[:-1]
            if is_alone:
                if finish:
                    finish()
                end_part(path)

    st.fragment(run, key=name if name in (PAGE, SCENE) else None)()


def _begin(path: tuple[str, ...]) -> bool:
    """Start a run of one fragment; False if what stands around it was drawn with other values than there are now."""
    record = of_session()
    undo_late_values()
    if record.fragments.outermost_changed(path) is not None:
        return False
    for name in record.fragments.declared_inside(path):
        # A parameter that is left out of the link is not in this dictionary.
        record.declared.pop(name, None)
        del record.fragments.owners[name]
    return True
