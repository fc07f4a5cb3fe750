"""The model writes on, a few tokens at a time: what was written so far stays when it is stopped."""

import streamlit as st

from pages.next_word import compute
from pages.next_word.compute_checks import greedy_gap
from pages.next_word.context import NextWordContext
from viz import limits
from viz.frame.checks import Check, check
from viz.frame.compute import model
from viz.frame.modes import say
from viz.frame.modes.inner_steps import offer
from viz.params import Int
from viz.params.memory import Remembered
from viz.text import Translate

HEATS = (0, 50, 80, 100, 130, 200)
"""Temperatures in hundredths: 0 takes the likeliest word."""
DONE: Remembered[int] = Remembered("_written_so_far", default=0)
"""Tokens that have been written."""
PRESENTED = 12
"""Tokens that a presentation writes one by one."""
WRITTEN = Int("written", high=limits.CONTINUED_TOKENS)
HEAT = Int("heat", among=HEATS)
WRITE_SEED = Int("write_seed", high=9_999)


def draw(context: NextWordContext) -> list[Check]:
    """Write up to where the link says, and show the text with what was added."""
    t, wanted = context.t, WRITTEN.read()
    offer(WRITTEN.name, range(PRESENTED + 1))
    st.subheader(t("next_word.writing"), anchor=False)
    say(t("next_word.writing_lead"))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        heat = HEAT.select_slider(t("next_word.heat"), width=220, says=lambda heat: _heat(t, heat))
        seed = 0
        if heat:
            seed = WRITE_SEED.number_input(t("choice.seed"), width=130)
        else:
            st.empty()  # keeps the place: the buttons are neither moved nor sent again
        _buttons(t, wanted)
    if not wanted:
        return []
    written = _write(context, wanted, heat / 100, seed)
    tokenizer, ids = model(context.source.model).tokenizer, context.tokens.ids
    read = tokenizer.decode(ids)
    st.text(f"{read} ▸{tokenizer.decode(ids + written)[len(read) :]}")
    if len(written) < wanted:
        st.caption(t("next_word.ended", n=len(written)))
    st.caption(t("next_word.writing_note"))
    if heat:
        return []
    return [check("next_word.check_greedy", greedy_gap(context.source, wanted), 1e-3, n=len(written))]


def _heat(t: Translate, heat: int) -> str:
    return t("next_word.drawn", T=heat / 100) if heat else t("next_word.greedy")


def _buttons(t: Translate, wanted: int) -> None:
    all_written = wanted == limits.CONTINUED_TOKENS
    go_on = t("next_word.write" if not wanted else "next_word.go_on")
    args = (limits.CONTINUED_TOKENS,)
    st.button(go_on, key="write_on", type="primary", on_click=WRITTEN.set, args=args, disabled=all_written)
    st.button(t("next_word.stop"), key="stop_writing", on_click=_stop, disabled=not wanted)
    st.button(t("next_word.again"), key="write_again", on_click=WRITTEN.set, args=(0,), disabled=not wanted)


def _stop() -> None:
    WRITTEN.set(min(WRITTEN.value, DONE.read()))


def _write(context: NextWordContext, wanted: int, temperature: float, seed: int) -> tuple[int, ...]:
    """The tokens added, a piece at a time; each is one computation, kept for all who ask for the same."""
    written: tuple[int, ...] = ()
    place, tokenizer = st.empty(), model(context.source.model).tokenizer
    done = 0
    while done < wanted:
        done = min(wanted, done + limits.WRITTEN_AT_ONCE)
        written = compute.continued(context.source, done, temperature, seed)
        DONE.set(done)
        if done < wanted:
            place.text(tokenizer.decode(context.tokens.ids + written))
        if len(written) < done:
            break
    place.empty()
    return written
