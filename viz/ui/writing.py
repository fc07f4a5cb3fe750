"""A real encoder-decoder at work, word by word: the last part of the page Two sequences."""

import streamlit as st
import torch

from viz.core.checks import largest
from viz.figures.matrix import matrix
from viz.models.capture import Capture
from viz.models.registry import ModelError
from viz.models.writing import Writing
from viz.ui import compute, state
from viz.ui.compute_two import written
from viz.ui.controls import KEEP, pairs
from viz.ui.layout import check, say_error, show
from viz.ui.two_sequences import Meeting

OWN, LARGER = "animals-en-zh", "t5-small"
"""The encoder-decoders of the registry that are proposed: this project's own, and one from the hub."""
STACKS = ("cross", "decoder")


def _take_own() -> None:
    sentence = next(pair for pair in pairs() if pair.code == "animals")
    chosen = {"source": "model", "model": OWN, "text": sentence.text, "target": sentence.target, "write": True}
    for name, value in {**chosen, "layer": 1, "head": 0}.items():
        state.put(name, value)


def _say_what_to_do(meeting: Meeting) -> None:
    t, source = meeting.cross.t, meeting.source.choice.source
    if source.model and any(layer.layout.stack == "cross" for layer in compute.model(source.model).layers):
        st.info(t("two_sequences.own_heads", model=source.model))
        return
    st.info(t("two_sequences.no_model", model=LARGER))
    st.code("streamlit run app.py -- --model FOLDER", language="sh")


def _say_unknown(meeting: Meeting, writing: Writing) -> None:
    """A model reads a word that it does not know as one token for all of them, and writes on as if nothing were."""
    tokenizer, tokens = compute.model(meeting.source.choice.source.model).tokenizer, writing.tokens
    read = zip(tokens.ids, tokens.special, strict=True)
    if n := sum(each == tokenizer.unk_token_id and not special for each, special in read):
        t = meeting.cross.t
        st.warning(t("two_sequences.unknown", n=n, all=len(tokens.ids), token=tokenizer.unk_token))


def write(meeting: Meeting, head: int) -> None:
    """Let the model write, step by step, and put the rows of every step under each other; or say what to do first."""
    t = meeting.cross.t
    if not meeting.trained:
        _say_what_to_do(meeting)
        st.button(t("two_sequences.take_model"), on_click=_take_own, type="primary")
        return
    wanted = state.flag("write")
    st.toggle(t("two_sequences.write"), key="write", persist_state=KEEP)
    if not wanted:
        return
    try:
        writing, at_once = written(meeting.source.choice.source)
    except ModelError as error:
        say_error(t, error)
        return
    _say_unknown(meeting, writing)
    st.text(writing.text)
    st.button(t("two_sequences.use"), on_click=state.put, args=("target", writing.text), disabled=not writing.text)
    _rows(meeting, writing, head)
    _candidates(meeting, writing)
    _compare(meeting, writing, at_once)


def _asking(writing: Writing, at_once: Capture) -> tuple[str, ...]:
    """Who asks at each step: the token read last; and what it writes."""
    assert at_once.target is not None
    return tuple(f"{read} → {made}" for read, made in zip(at_once.target.labels, writing.target.labels, strict=True))


def _rows(meeting: Meeting, writing: Writing, head: int) -> None:
    t, n = meeting.cross.t, len(writing.steps)
    at_once = written(meeting.source.choice.source)[1]
    stack = state.choice("write_stack", "cross", STACKS)
    st.segmented_control(
        t("two_sequences.write_stack"), STACKS, key="write_stack", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"two_sequences.write_{code}"),
    )  # fmt: skip
    step = state.whole("step", n, 1, max(n, 1))
    if n > 1:
        st.slider(t("two_sequences.step"), 1, n, key="step", persist_state=KEEP)
    layer = min(meeting.cross.choice.layer, len(writing.rows[stack]) - 1)
    rows = writing.rows[stack][layer][head].clone()
    rows[step:] = -torch.inf  # not asked yet
    if stack == "decoder":
        rows[torch.ones_like(rows).triu(1).bool()] = -torch.inf
    assert at_once.target is not None
    asking, keys = _asking(writing, at_once), (writing.tokens if stack == "cross" else at_once.target).labels
    hover = [
        [t("two_sequences.write_hover", row=i + 1, asks=asks, key=key, value=f"{value:.4f}")
         for key, value in zip(keys, row, strict=True)]
        for i, (asks, row) in enumerate(zip(asking, rows.tolist(), strict=True))
    ]  # fmt: skip
    fig = matrix(
        rows, asking, keys, kind="weights", hover=hover, row_title=t("two_sequences.write_rows"),
        column_title=t(f"two_sequences.write_columns_{stack}"), numbers=rows.numel() <= 400,
    )  # fmt: skip
    caption = t("two_sequences.write_alt", layer=layer, head=head, step=step, n=n, columns=len(keys))
    st.caption(caption)
    show(fig, key="written", alt=caption)


def _candidates(meeting: Meeting, writing: Writing) -> None:
    """What the model was choosing between, at each step."""
    t = meeting.cross.t
    rows = [
        {"at": step.at + 1}
        | {
            f"c{i}": f"{label} {p:.4f}"
            for i, (label, p) in enumerate(zip(step.labels, step.probabilities, strict=True))
        }
        for step in writing.steps
    ]
    titles = {"at": t("two_sequences.step"), "c0": t("two_sequences.taken")}
    titles |= {f"c{i}": t("two_sequences.runner_up", n=i + 1) for i in range(1, len(rows[0]) - 1)}
    st.dataframe(
        rows, column_config={key: st.column_config.Column(title) for key, title in titles.items()}, hide_index=True,
        height=min(420, 38 * (len(rows) + 1)), key="candidates",
    )  # fmt: skip


def _compare(meeting: Meeting, writing: Writing, at_once: Capture) -> None:
    """Row by row with a cache, and all rows in one pass behind a causal mask: the same maps."""
    for stack in STACKS:
        off = max(
            float((rows - at_once.layer(i, stack=stack).weights).abs().max())
            for i, rows in enumerate(writing.rows[stack])
        )
        size = max(largest(at_once.layer(i, stack=stack).masked) for i in range(len(writing.rows[stack])))
        meeting.checks.append(check(f"two_sequences.check_{stack}", off, 1e-5 * size, layers=len(writing.rows[stack])))
