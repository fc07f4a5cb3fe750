"""Learn it, live: quadratic heads imitate a hidden convolution; the run can be stopped and taken up again."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor
from torch.nn.functional import pad

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext
from pages.convolution.picture_choice import replicated
from pages.convolution.side_by_side import shared_scale, show_side_by_side
from viz.components.maps import Picture
from viz.core.variants.learn_convolution import STARTS, Lesson, Snapshot, effective_kernel, learn, teacher
from viz.figures.curves import curves
from viz.figures.lesson import centres
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import number, span
from viz.frame.modes import say
from viz.frame.queue_notice import aside, stores, until
from viz.frame.show import show, show_lines
from viz.params import Choice, Flag, Int, Real
from viz.params.memory import Remembered
from viz.text import Translate

STEPS, EVERY, REDRAW_EVERY = 600, 20, 100
RATES = (0.01, 0.03, 0.1, 0.3)
SHARPNESS = (0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass
class Run:
    """A training in progress: a suspended generator and its snapshots, a few kB a session."""

    lesson: Lesson
    steps: Iterator[Snapshot]
    shots: list[Snapshot] = field(default_factory=list)


_RUN: Remembered[Run | None] = Remembered("_lesson", default=None)
LESSON_SEED = Int("lesson_seed", high=999)
LESSON_HEADS = Int("lesson_heads", 9, low=1, high=12)
START = Choice("start", among=tuple(STARTS))
RATE, ALPHA_START = Real("rate", 0.1, among=RATES), Real("alpha_start", 1.0, among=SHARPNESS)
FREE_ALPHA = Flag("free_alpha", True)
LEARNED = Int("learned", high=STEPS)
MOMENT = Int("moment", lambda last: last, high=lambda last: last)


def draw(context: ConvolutionContext) -> list[Check]:
    """Train up to where the link says, and show the run: paths of the centres, the loss, the kernel learned."""
    t, picture, row = context.t, st.container(), st.container(horizontal=True, gap="small")
    buttons = row.container(horizontal=True, gap="small", width="content")
    run = _run_of(_read_recipe(t, row))
    LEARNED.read()
    with buttons:
        _buttons(t, n_steps=run.shots[-1].step)
    with picture:
        _train(t, run)
        return _results(t, run)


def _read_recipe(t: Translate, row: DeltaGenerator) -> Lesson:
    """Read the training's settings from a popover of that row."""
    seed, n_heads = LESSON_SEED.read(), LESSON_HEADS.read()
    with row.popover(t("convolution.lesson_settings", n=n_heads, seed=seed), key="lesson_settings"):
        LESSON_SEED.number_input(t("choice.seed"))
        LESSON_HEADS.slider(t("convolution.lesson_heads"))
        start = START.radio(t("convolution.start"), says=lambda code: t(f"convolution.start_{code}"))
        rate = RATE.select_slider(t("convolution.rate"))
        alpha = ALPHA_START.select_slider(t("convolution.alpha_start"))
        free = FREE_ALPHA.toggle(t("convolution.free_alpha"))
    return Lesson(
        seed=seed, n_heads=n_heads, learning_rate=rate, alpha=alpha, free_alpha=free, start=start, steps=STEPS
    )


def _run_of(lesson: Lesson) -> Run:
    """The session's run of these settings, at its current step."""
    run = _RUN.read()
    if run is None or run.lesson != lesson:
        run = Run(lesson=lesson, steps=learn(lesson, every=EVERY))
        _RUN.set(run)
        run.shots.append(next(run.steps))
    return run


def _buttons(t: Translate, *, n_steps: int) -> None:
    label, finished = t("convolution.learn" if n_steps == 0 else "convolution.go_on"), n_steps == STEPS
    st.button(label, key="learn", type="primary", on_click=LEARNED.set, args=(STEPS,), disabled=finished)
    st.button(t("convolution.stop"), key="stop", on_click=_stop, disabled=finished)
    st.button(t("convolution.again"), key="again", on_click=_again, disabled=n_steps == 0)


def _stop() -> None:
    if run := _RUN.read():
        LEARNED.set(run.shots[-1].step)


def _again() -> None:
    _RUN.forget()
    MOMENT.forget()
    LEARNED.set(0)


def _train(t: Translate, run: Run) -> None:
    """Train up to where the link says, 20 steps at a time and never more runs at once than the server allows."""
    if run.shots[-1].step >= LEARNED.value:
        return
    bar, live = st.empty(), st.empty()
    while run.shots[-1].step < LEARNED.value:
        with aside(), stores().turns.turn("lesson", until):
            shot = next(run.steps)
        run.shots.append(shot)
        text = t("convolution.learning", step=shot.step, steps=STEPS, loss=number(shot.loss))
        bar.progress(shot.step / STEPS, text)
        if shot.step % REDRAW_EVERY == 0 and shot.step < STEPS:
            with live:
                _paths(t, run.shots, f"centres_{shot.step}")
    MOMENT.set(len(run.shots) - 1)
    # The buttons above still have their old labels.
    st.rerun()


def _results(t: Translate, run: Run) -> list[Check]:
    last = len(run.shots) - 1
    moment = MOMENT.slider(t("convolution.moment", every=EVERY), last) if last else 0
    shot = run.shots[moment]
    left, right = st.columns(2, gap="medium")
    with left:
        _paths(t, run.shots[: moment + 1], "centres")
    with right:
        if last:
            _losses(t, run.shots)
        _kernels(t, run.lesson, shot)
    _say_result(t, run.lesson, shot)
    off = abs(loss_by_hand(run.lesson, shot) - shot.loss)
    return [check("convolution.check_loss", off, 1e-5 * max(1.0, shot.loss), step=shot.step)]


def _paths(t: Translate, shots: list[Snapshot], key: str) -> None:
    paths = torch.stack([shot.heads.offset for shot in shots])
    x_title, y_title = t("convolution.columns"), t("convolution.rows")
    alt = t("convolution.centres_alt", n=paths.shape[1], step=shots[-1].step)
    fig = centres(paths, shots[-1].heads.alpha, x_title=x_title, y_title=y_title, head=t("convolution.n_head"))
    show(fig, key=key, alt=alt)


def _losses(t: Translate, shots: list[Snapshot]) -> None:
    losses = torch.tensor([shot.loss for shot in shots]).clamp(min=1e-12)
    steps = [float(shot.step) for shot in shots]
    loss = t("convolution.loss")
    fig = curves(steps, {loss: losses}, x=Axis(t("convolution.steps")), y=Axis(loss, log=True, grid=True), height=200)
    show_lines(fig, key="loss", alt=t("convolution.loss_alt", loss=number(shots[-1].loss)))


def _kernels(t: Translate, lesson: Lesson, shot: Snapshot) -> None:
    hidden, learned = pad(teacher(lesson).kernel[0, 0], (1, 1, 1, 1)), effective_kernel(shot.heads, 2)[0, 0]
    most = max(map(abs, shared_scale(hidden, learned)))
    pictures = [
        Picture(title=t(f"convolution.{name}"), values=values, low=-most, high=most, signed=True)
        for name, values in (("hidden", hidden), ("student", learned))
    ]
    show_side_by_side(t, pictures, key="kernels", alt=t("convolution.kernels_alt"))


def _say_result(t: Translate, lesson: Lesson, shot: Snapshot) -> None:
    offset, alpha = shot.heads.offset, shot.heads.alpha
    away = float((offset - offset.round()).norm(dim=-1).mean())
    variance = float(teacher(lesson).target.var(correction=0))
    say(
        t(
            "convolution.lesson_found",
            step=shot.step,
            loss=number(shot.loss),
            away=number(away),
            n=len(alpha),
            variance=number(variance),
            share=number(shot.loss / variance),
            alpha=span(number(float(alpha.min())), number(float(alpha.max()))),
        )
    )


def loss_by_hand(lesson: Lesson, shot: Snapshot) -> float:
    """The loss from the centres, alpha and weights that are shown: each head written out, against torch's Conv2d."""
    goal, heads = teacher(lesson), shot.heads
    weights = by_hand.softmax(by_hand.window_scores(heads.offset, heads.alpha, goal.image.shape[1:]))
    output = torch.einsum("hqp,p,h->q", weights, goal.image.double().flatten(), heads.weights.w_o[:, 0].double())
    target: Tensor = replicated(goal.image, goal.kernel).double().flatten()
    return float((output - target).square().mean())
