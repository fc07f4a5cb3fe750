"""Navigation of the nine steps, shared by the sections on three words and on the user's text."""

import streamlit as st

from viz.frame import page, shared
from viz.frame.modes.inner_steps import offer
from viz.frame.shared import LANG, SECTION, SOURCE
from viz.params.memory import Remembered
from viz.text import Translate

THREE_WORDS, ON_THE_TEXT = "three_words", "steps"
"""Names in the link of the sections with the steps."""
WITHOUT_TEXT = (THREE_WORDS, "own_numbers", "puzzles")
"""Sections that read no text: their numbers are in the link."""
ALL, SOFTMAX = 0, 7
ORDER = (1, 2, 3, 4, 5, 6, 7, 8, 9, ALL)
"""Order of the steps for the buttons; the last shows all of them."""
STEP = shared.STEP.variant(default=1, among=ORDER)
"""The open step; 0 is all of them."""
SWITCH: Remembered[bool] = Remembered("_on_the_text")


def is_whole_page() -> bool:
    """Return True if every section is on the page, one below the other."""
    return bool(SECTION.value == page.ALL)


def visible_steps(step: int) -> tuple[int, ...]:
    """Return the steps on the page."""
    return ORDER[:-1] if step == ALL else (step,)


def _go(places: int) -> None:
    STEP.set(ORDER[ORDER.index(STEP.value) + places])


def stepper(t: Translate, step: int) -> None:
    """Draw Back and Next, with the arrow keys as shortcuts, and a button for each step."""
    offer(STEP.name, ORDER[:-1])
    first, last = step == ORDER[0], step == ORDER[-1]
    with st.container(horizontal=True, gap="small", key=f"stepper_{LANG.value}"):
        st.button(t("step_by_step.back"), key="back", shortcut="Left", on_click=_go, args=(-1,), disabled=first)
        st.button(
            t("step_by_step.next"), key="next", shortcut="Right", on_click=_go, args=(1,), disabled=last, type="primary"
        )
        for n in ORDER:
            st.button(
                t(f"step_by_step.short_{n}"),
                key=f"to_{n}",
                on_click=STEP.set,
                args=(n,),
                type="secondary" if n == step else "tertiary",
            )


def heading(t: Translate, n: int, section: str, *, first: bool) -> None:
    """Draw the title of a step; beside the first, a switch to the same step in the other section."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"heading_{section}_{n}"):
        st.subheader(f"{n}. {t(f'step_by_step.title_{n}')}", anchor=False, width="content")
        if first and not is_whole_page():
            SWITCH.set(section == ON_THE_TEXT)
            kind = "text" if SOURCE.has_value and SOURCE.value != "model" else "model"
            st.toggle(t(f"step_by_step.switch_{kind}"), key=SWITCH.name, on_change=_switch, width="content")


def _switch() -> None:
    # The same step there, though that section opens on another.
    STEP.choose(STEP.value)
    SECTION.set(ON_THE_TEXT if SWITCH.read() else THREE_WORDS)
