"""The continuation of the text, a few tokens at a time; it keeps the finished tokens when it is stopped."""

import streamlit as st

from pages.next_word import compute
from pages.next_word.compute_checks import greedy_gap
from pages.next_word.context import NextWordContext
from viz import limits
from viz.frame.checks import Check, check
from viz.frame.compute import model
from viz.frame.modes import say
from viz.frame.modes.inner_steps import offer
from viz.frame.shared import SEED
from viz.params import Int
from viz.params.memory import Remembered
from viz.text import Translate

HEATS = (0, 50, 80, 100, 130, 200)
"""Temperatures in hundredths: 0 takes the likeliest word."""
N_TOKENS_DONE: Remembered[int] = Remembered("_written_so_far", default=0)
"""Number of finished tokens."""
PRESENTED = 12
"""Tokens that a presentation writes one by one."""
N_WRITTEN = Int("written", high=limits.CONTINUED_TOKENS)
HEAT = Int("heat", among=HEATS)


def draw(context: NextWordContext) -> list[Check]:
    """Write up to the number of tokens in the link, and show the text with its continuation."""
    t, target = context.t, N_WRITTEN.read()
    offer(N_WRITTEN.name, range(PRESENTED + 1))
    st.subheader(t("next_word.writing"), anchor=False)
    say(t("next_word.writing_lead"))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        heat = HEAT.select_slider(
            t("next_word.heat"),
            width=220,
            says=lambda heat: t("next_word.drawn", T=heat / 100) if heat else t("next_word.greedy"),
        )
        if heat and context.scene.choice.source.kind == "model":
            seed = SEED.number_input(t("choice.seed"), width=130)
        else:
            # The chip of seeded heads has the control. An empty element reserves the place for it.
            seed = SEED.read() if heat else 0
            st.empty()
        _buttons(t, target)
    if not target:
        return []
    tokens = _write(context, target, heat / 100, seed)
    tokenizer, ids = model(context.source.model).tokenizer, context.tokens.ids
    read = tokenizer.decode(ids)
    st.text(f"{read} ▸{tokenizer.decode(ids + tokens)[len(read) :]}")
    if len(tokens) < target:
        st.caption(t("next_word.ended", n=len(tokens)))
    st.caption(t("next_word.writing_note"))
    if heat:
        return []
    return [check("next_word.check_greedy", greedy_gap(context.source, target), 1e-3, n=len(tokens))]


def _buttons(t: Translate, target: int) -> None:
    all_written = target == limits.CONTINUED_TOKENS
    go_on = t("next_word.write" if not target else "next_word.go_on")
    args = (limits.CONTINUED_TOKENS,)
    st.button(go_on, key="write_on", type="primary", on_click=N_WRITTEN.set, args=args, disabled=all_written)
    st.button(t("next_word.stop"), key="stop_writing", on_click=_stop, disabled=not target)
    st.button(t("next_word.again"), key="write_again", on_click=N_WRITTEN.set, args=(0,), disabled=not target)


def _stop() -> None:
    N_WRITTEN.set(min(N_WRITTEN.value, N_TOKENS_DONE.read()))


def _write(context: NextWordContext, target: int, temperature: float, seed: int) -> tuple[int, ...]:
    """Return the new tokens, a piece at a time; each is one cached computation shared by all users."""
    tokens: tuple[int, ...] = ()
    place, tokenizer = st.empty(), model(context.source.model).tokenizer
    n_tokens = 0
    while n_tokens < target:
        n_tokens = min(target, n_tokens + limits.WRITTEN_AT_ONCE)
        tokens = compute.continued(context.source, n_tokens, temperature, seed)
        N_TOKENS_DONE.set(n_tokens)
        if n_tokens < target:
            place.text(tokenizer.decode(context.tokens.ids + tokens))
        if len(tokens) < n_tokens:
            break
    place.empty()
    return tokens
