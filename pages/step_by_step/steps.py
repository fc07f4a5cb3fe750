"""The nine steps of one head, each with its words and its matrix; Back and Next go through them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch.nn.functional import linear, rms_norm

from pages.step_by_step import formulas, matrices, reference, weighted_sum, worked_example
from pages.step_by_step.context import StepByStepContext
from pages.step_by_step.stepper import ALL, ON_THE_TEXT, STEP, heading, is_whole_page, stepper, visible_steps
from pages.step_by_step.weighted_sum import OUTPUT_STEP
from pages.step_by_step.worked_example import WEIGHT_STEPS
from viz.components.bars import BarChart
from viz.components.matrix import Axis
from viz.core.analysis.checks import largest, worst
from viz.core.analysis.one_head import by_hand
from viz.core.attention import attend, row_softmax
from viz.core.heads import merge_heads, project, share_kv
from viz.figures.palette import GREY, HEADS
from viz.frame.checks import Check, check, scene_checks
from viz.frame.format import at_most, number
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.params import Flag
from viz.text import has_text

TERMS = Flag("every_term")
"""Write out every term of the selected weight."""
HEIGHT = 520
"""Height in pixels of the bars of lengths, as that of the matrices beside them."""

NO_BRACES = str.maketrans("", "", "{}")
"""Removes LaTeX braces from a symbol to name a figure."""

FIRST_OF_A_PAIR = 4
"""The first step with a query and a key."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step's texts (``says_<name>``, and below the picture ``more_<name>``), its formula and its picture.

    ``lines`` are the steps whose calculation for the chosen cell is written below the picture.
    """

    name: str
    formula: Callable[[StepByStepContext], str]
    draw: Callable[[StepByStepContext], None]
    lines: tuple[int, ...] = ()


def draw(context: StepByStepContext) -> list[Check]:
    """Draw the selected step, or all of them."""
    step = STEP.read()
    stepper(context.t, step)
    for n in visible_steps(step):
        _draw_step(context, n, with_pair=step != ALL or n == FIRST_OF_A_PAIR)
    return [*_checks(context), *_every_term(context, visible_steps(step))]


def _every_term(context: StepByStepContext, steps: Sequence[int]) -> list[Check]:
    """Draw every term of the selected weight or output row, if the user switched that on."""
    of_weight, of_row = is_whole_page() or set(steps) & set(WEIGHT_STEPS), is_whole_page() or OUTPUT_STEP in steps
    if not (of_weight or of_row) or not (is_whole_page() or TERMS.toggle(context.t("step_by_step.terms_toggle"))):
        return []
    if WEIGHT_STEPS[-1] not in steps and is_whole_page():
        matrices.pair_map(context, "cell", context.trace.weights[context.head], "weights")
    checks = worked_example.draw(context, steps) if of_weight else []
    return [*checks, *(weighted_sum.draw(context) if of_row else [])]


def code(_: StepByStepContext) -> tuple[Callable[..., Any], ...]:
    """Return the functions behind the steps, and behind their terms if these are shown."""
    return (
        project,
        attend,
        row_softmax,
        share_kv,
        merge_heads,
        *[by_hand] * (is_whole_page() or (TERMS.has_value and TERMS.value)),
    )


def formula(context: StepByStepContext) -> None:
    """Draw the formula of the selected step, or of all of them."""
    for n in visible_steps(STEP.read()):
        st.latex(STEPS[n].formula(context))
    if set(visible_steps(STEP.read())) & set(WEIGHT_STEPS):
        st.markdown(context.t("step_by_step.why_weight"))


def _draw_step(context: StepByStepContext, n: int, *, with_pair: bool) -> None:
    t, step = context.t, STEPS[n]
    heading(t, n, ON_THE_TEXT, first=n == visible_steps(STEP.read())[0])
    step.draw(context)
    say(t(f"step_by_step.says_{step.name}"))
    if has_text(more := f"step_by_step.more_{step.name}"):
        say(t(more))
    if step.lines:
        if with_pair:
            worked_example.pair(context)
        worked_example.chain(context, step.lines)


def _tokens(context: StepByStepContext) -> None:
    for symbol, values in dict(map(context.rows_of, "QK")).items():
        width = matrices.dimensions(context, "d_model" if symbol.startswith("X") else "short", values.shape[1])
        matrices.picture(context, symbol.translate(NO_BRACES), symbol, values, matrices.tokens(context), width)
    if context.scene.call.latent is not None:
        say(context.t("step_by_step.latent"))


def _learned(context: StepByStepContext) -> None:
    t, spec = context.t, context.spec
    for column, (letter, (index, weights, bias)) in zip(st.columns(3), context.projections.items(), strict=True):
        read = context.rows_of(letter)[0]
        rows = matrices.dimensions(context, "d_model" if read.startswith("X") else "short", weights.shape[0])
        columns = matrices.dimensions(context, "d_v" if letter == "V" else "d_k", weights.shape[1])
        name, b = f"W_{letter}", f"b_{letter}"
        with column:
            matrices.picture(context, name, formulas.weight(name, index), weights, rows, columns, beside=3)
            if bias is not None:
                row = Axis([b], "")
                matrices.picture(context, b, formulas.weight(b, index), bias[None], row, columns, beside=3)
    if spec.kind != "MHA":
        size = spec.H // spec.G
        first, last = context.group * size, context.group * size + size - 1
        say(t("step_by_step.shared", group=context.group, first=first, last=last))
    biased = any(bias is not None for _, _, bias in context.projections.values())
    say(t("step_by_step.bias" if biased else "step_by_step.no_bias"))
    if context.projections["K"][2] is not None and not context.is_changed and not context.options["score_mod"]:
        say(t("step_by_step.idle_bias", value=at_most(reference.change_without_key_bias(context))))


def _projected(context: StepByStepContext) -> None:
    trace, head, group = context.trace, context.head, context.group
    query_rows, key_rows = (matrices.queries(context), context.query), (matrices.keys(context), context.key)
    parts = {"Q": (trace.q[head], *query_rows), "K": (trace.k[group], *key_rows), "V": (trace.v[group], *key_rows)}
    for column, (letter, (values, rows, row)) in zip(st.columns(3), parts.items(), strict=True):
        columns = matrices.dimensions(context, "d_v" if letter == "V" else "d_k", values.shape[1])
        with column:
            matrices.picture(context, letter, letter, values, rows, columns, beside=3, row=row)
    if context.is_changed:
        before, after = project(trace.x, *context.projections["Q"][1:])[context.query], context.cell.q
        lengths = {"before": before, "after": after, "change": after - before}
        texts = {name: number(float(vector.norm()), 3) for name, vector in lengths.items()}
        kind = "normed" if "normed" in context.scene.call.rotation else "rotary"
        say(context.t(f"step_by_step.{kind}", i=context.query, **texts))


def _scores(context: StepByStepContext) -> None:
    matrices.pair_map(context, "S", context.trace.scores[context.head], "signed")


def _scaled(context: StepByStepContext) -> None:
    scores, scaled = context.trace.scores[context.head], context.trace.scaled[context.head]
    matrices.pair_map(context, "S_scaled", scaled, "signed", limit=_limit(context))
    kind = "root" if formulas.by_root(context) else "other"
    before, after = (number(float(values.std(correction=0)), 3) for values in (scores, scaled))
    sizes = {"scale": number(context.trace.scale, 3), "d_k": context.spec.d_k}
    say(context.t(f"step_by_step.scale_{kind}", before=before, after=after, **sizes))


def _limit(context: StepByStepContext) -> float:
    """The limit of the colour scale of steps 5 and 6."""
    return largest(context.trace.scaled[context.head])


def _masked(context: StepByStepContext) -> None:
    masked, t = context.trace.masked[context.head], context.t
    matrices.pair_map(context, "S_masked", masked, "signed", limit=_limit(context))
    mask = masked == -torch.inf
    n_blocked, n_blind = int(mask.sum()), int(mask.all(-1).sum())
    key = "blocked" if n_blocked or context.scene.choice.mask.kind != "own" else "none_blocked"
    say(t(f"step_by_step.{key}", n=n_blocked, of=masked.numel()))
    if n_blind:
        st.warning(t("step_by_step.blind", n=n_blind))
    for name in ("score_mod", "bias"):
        if context.options[name] is not None:
            say(t(f"step_by_step.has_{name}"))


def _weights(context: StepByStepContext) -> None:
    matrices.pair_map(context, "A", context.trace.weights[context.head], "weights")


def _output(context: StepByStepContext) -> None:
    values = context.trace.head_outputs[context.head]
    columns = matrices.dimensions(context, "d_v", context.spec.d_v)
    matrices.picture(context, "Z", "Z", values, matrices.queries(context), columns, row=context.query)


def _leaves(context: StepByStepContext) -> None:
    t, trace, i, head, spec = context.t, context.trace, context.query, context.head, context.spec
    columns = matrices.dimensions(context, "d_out", spec.d_out)
    matrices.picture(context, "contribution", "C", trace.contributions[head], matrices.tokens(context), columns, row=i)
    lengths = trace.contributions[:, i].norm(dim=-1)
    texts = {"added": number(float(lengths[head]), 3), "whole": number(float(trace.output[i].norm()), 3)}
    sentence = t("step_by_step.lengths", i=i, head=head, H=spec.H, **texts)
    say(sentence)
    left_column, right_column = st.columns(2)
    with left_column:
        rows = matrices.dimensions(context, "d_v", spec.d_v)
        w_o, symbol = context.head_weights.w_o, formulas.weight("W_O", head)
        matrices.picture(context, "W_O", symbol, w_o, rows, columns, beside=2)
    with right_column:
        title = t("step_by_step.all_heads", i=i)
        colours = [HEADS[0] if index == head else GREY for index in range(spec.H)]
        names = [str(index) for index in range(spec.H)]
        chart = BarChart(
            names,
            {title: lengths},
            title=t("step_by_step.head"),
            value_title=t("step_by_step.axis_length"),
            top=1.05 * float(lengths.max()),
            colours=colours,
            height=HEIGHT,
        )
        show_bars(chart, key="lengths", alt=sentence)
        st.caption(title)


def _checks(context: StepByStepContext) -> list[Check]:
    """Run the checks of any head, of Q, K, V against the formula, and of the weights against plain torch."""
    trace, head, group = context.trace, context.head, context.group
    rows = {"Q": trace.x, "K": trace.memory, "V": trace.memory}
    projections = {"Q": trace.q[head], "K": trace.k[group], "V": trace.v[group]}
    letters = ("V",) if context.is_changed else ("Q", "K", "V")
    errors = []
    for letter in letters:
        _, matrix, bias = context.projections[letter]
        values = linear(rows[letter], matrix.T, bias)
        if letter == "V" and context.scene.call.value_eps is not None:
            values = rms_norm(values, values.shape[-1:], eps=context.scene.call.value_eps)
        errors.append((values - projections[letter]).abs().max())
    tolerance = 1e-5 * max(largest(projections[letter]) for letter in letters)
    return [
        *scene_checks(context.scene),
        check(f"step_by_step.check_{'v' if context.is_changed else 'qkv'}", worst(errors), tolerance),
        reference.weights_check(context),
    ]


STEPS = {
    1: Step(name="x", formula=formulas.tokens, draw=_tokens),
    2: Step(name="w", formula=formulas.learned, draw=_learned),
    3: Step(name="qkv", formula=formulas.projected, draw=_projected),
    4: Step(name="scores", formula=formulas.scores, draw=_scores, lines=(4,)),
    5: Step(name="scaled", formula=formulas.scaled, draw=_scaled, lines=(4, 5)),
    6: Step(name="masked", formula=formulas.masked, draw=_masked, lines=(5, 6)),
    7: Step(name="weights", formula=formulas.weights, draw=_weights, lines=(7,)),
    8: Step(name="output", formula=formulas.output, draw=_output, lines=(8,)),
    9: Step(name="leaves", formula=formulas.leaves, draw=_leaves),
}
