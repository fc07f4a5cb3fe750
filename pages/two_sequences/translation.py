"""An encoder-decoder writes a translation word by word, and attends to the source anew for every word."""

import streamlit as st
import torch

from pages.two_sequences.compute import write_twice
from pages.two_sequences.context import (
    FAMOUS_HEAD,
    FAMOUS_LAYER,
    LARGER,
    OUR_TRANSLATOR,
    TwoSequencesContext,
    sentence,
)
from viz import limits
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import rounding, sdpa_weights, worst
from viz.frame import compute, shared, specs
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.modes.figure_facts import stand_apart
from viz.frame.modes.inner_steps import first_of, offer
from viz.frame.shared import HEAD, LAYER, MODEL, SECTION, SOURCE, TARGET, TEXT
from viz.frame.show import show_matrix
from viz.models.capture import Capture
from viz.models.generation import Writing
from viz.models.layout import LoadedModel
from viz.params import Choice
from viz.text import isolate

MANY_STEPS = 12
"""Steps from which the map has the full height of its container."""
STACKS = ("cross", "decoder")
WRITE_STACK = Choice("write_stack", among=STACKS)
STEP = shared.STEP.variant(default=lambda n: first_of(n, range(1, n + 1)), low=1, high=lambda n: n)


def reads_heads(model: LoadedModel | None) -> bool:
    """Return True if the layer and the head matter: for an encoder-decoder, not for the example in its place."""
    return model is not None and any(layer.layout.stack == "cross" for layer in model.layers)


def draw(context: TwoSequencesContext) -> list[Check]:
    """Draw the rows of every step; the small translator's if the page shows other heads."""
    if context.is_trained:
        return _draw_writing(context, context.source.choice.source, context.cross.choice.layer, context.head)
    may_show = not limits.MODELS or OUR_TRANSLATOR in limits.MODELS
    checks = _draw_example(context) if may_show else []
    _say_what_to_do(context)
    return checks


def _draw_example(context: TwoSequencesContext) -> list[Check]:
    """Draw the small translator on a sentence it knows, and a button that adopts both."""
    t, text = context.t, sentence().text
    say(t("two_sequences.example"))
    stand_apart("translation")
    source = specs.Source(kind="model", model=OUR_TRANSLATOR, text=text)
    checks = _draw_writing(context, source, FAMOUS_LAYER, FAMOUS_HEAD)
    st.button(t("two_sequences.take_model"), on_click=_open_translator, type="primary")
    return checks


def _say_what_to_do(context: TwoSequencesContext) -> None:
    """Explain how to see other encoder-decoders."""
    t, model = context.t, context.source.choice.source.model
    if model and reads_heads(compute.model(model)):
        st.info(t("two_sequences.own_heads", model=model))
        return
    st.caption(t("two_sequences.no_model", model=LARGER))
    st.code("streamlit run app.py -- --model FOLDER", language="sh")


def _open_translator() -> None:
    pair = sentence()
    SOURCE.set("model")
    MODEL.set(OUR_TRANSLATOR)
    TEXT.set(pair.text)
    TARGET.set(pair.target)
    LAYER.set(FAMOUS_LAYER)
    HEAD.set(FAMOUS_HEAD)


def _draw_writing(context: TwoSequencesContext, source: specs.Source, layer: int, head: int) -> list[Check]:
    writing, in_one_pass = write_twice(source)
    with st.container(horizontal=True, gap="small"):
        for text in (source.text, "→", writing.text):
            st.text(text, width="content")
    _rows(context, writing, in_one_pass, layer, head)
    if context.is_trained:
        use, args = context.t("two_sequences.use"), (source, writing.text)
        st.button(use, on_click=_open_heads, args=args, disabled=not writing.text)
    return checks(writing, in_one_pass)


def _open_heads(source: specs.Source, translation: str) -> None:
    """Open every head between the text and its translation."""
    SOURCE.choose(source.kind)
    MODEL.choose(source.model)
    TEXT.choose(source.text)
    TARGET.choose(translation)
    SECTION.set("cross_attention")


def _rows(context: TwoSequencesContext, writing: Writing, in_one_pass: Capture, layer: int, head: int) -> None:
    """Draw the weights of one head, a row for each step up to the selected one."""
    t, n = context.t, len(writing.target.ids)
    # A fixed height reserves the place.
    picture = st.container(key="writing" + "_high" * (n >= MANY_STEPS))
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        stack = WRITE_STACK.segments(t("two_sequences.write_stack"), says=lambda code: t(f"two_sequences.write_{code}"))
        step = STEP.slider(t("two_sequences.step"), n, width=320)
        offer(STEP.name, STEP.options(n))
    layer = min(layer, len(writing.rows[stack]) - 1)
    rows = writing.rows[stack][layer][head].clone()
    # The rows after this step are not written yet.
    rows[step:] = -torch.inf
    if stack == "decoder":
        visible = in_one_pass.stacks[stack][layer].options["allowed"]
        # Closed are later tokens, and those before a window.
        rows[~visible.expand(1, n, n)[0]] = -torch.inf
    assert in_one_pass.target is not None
    read, outputs = in_one_pass.target.labels, writing.target.labels
    looking = [f"{isolate(token)} → {isolate(after)}" for token, after in zip(read, outputs, strict=True)]
    keys = writing.tokens.labels if stack == "cross" else read
    matrix = Matrix(
        values=rows,
        rows=Axis(looking, t("two_sequences.write_rows")),
        columns=Axis(keys, t(f"two_sequences.write_columns_{stack}")),
        kind="weights",
        hover=t("two_sequences.write_hover"),
        numbers=rows.numel() <= limits.PRINTED_CELLS,
    )
    caption = t("two_sequences.write_alt", layer=layer, head=head, step=step, n=n, columns=len(keys))
    with picture:
        show_matrix(t, matrix, key="written", alt=caption)
    st.caption(caption)


def checks(writing: Writing, in_one_pass: Capture) -> list[Check]:
    """Check cached decoding row by row against torch's causal attention on all rows of one pass."""
    checks = []
    for stack in STACKS:
        off, tolerance = [], 0.0
        for rows, call in zip(writing.rows[stack], in_one_pass.stacks[stack], strict=True):
            off.append((rows - sdpa_weights(call.q, call.k, **call.options)).abs().max())
            tolerance = max(tolerance, rounding(call.q, call.k, call.options.get("scale")))
        checks.append(check(f"two_sequences.check_{stack}", worst(off), tolerance, layers=len(writing.rows[stack])))
    return checks
