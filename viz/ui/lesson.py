"""Learn it, live: a student of quadratic heads imitates a hidden convolution; it can be stopped and taken up again."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from viz.core.learn_conv import STARTS, Lesson, Snapshot, effective_kernel, learn, teacher
from viz.figures.lesson import centres, lines
from viz.figures.pictures import Panel, pictures, shared_scale
from viz.text import Translate
from viz.ui import compute, state
from viz.ui.controls import KEEP
from viz.ui.layout import show
from viz.ui.waiting import aside, until

STEPS, EVERY, DRAWN = 600, 20, 100
RATES = (0.01, 0.03, 0.1, 0.3)
SHARPNESS = (0.3, 1.0, 3.0, 10.0, 30.0)
HELD = "_lesson"


@dataclass
class Run:
    """A lesson on its way: the generator waits where it was left. A few kB a visitor."""

    lesson: Lesson
    run: Iterator[Snapshot]
    shots: list[Snapshot] = field(default_factory=list)


def controls(t: Translate) -> Lesson:
    """What is learned and how."""
    columns = st.columns(3, vertical_alignment="bottom")
    seed = state.whole("lesson_seed", 0, 0, 999)
    columns[0].number_input(t("sidebar.seed"), 0, 999, key="lesson_seed", persist_state=KEEP)
    n_heads = state.whole("lesson_heads", 9, 1, 12)
    columns[1].slider(t("convolution.lesson_heads"), 1, 12, key="lesson_heads", persist_state=KEEP)
    start = state.choice("start", next(iter(STARTS)), tuple(STARTS))
    columns[2].selectbox(
        t("convolution.start"), tuple(STARTS), key="start", persist_state=KEEP,
        format_func=lambda code: t(f"convolution.start_{code}"),
    )  # fmt: skip
    columns = st.columns(3, vertical_alignment="bottom")
    rate = state.param("rate", 0.1, float, lambda value: value in RATES)
    columns[0].select_slider(t("convolution.rate"), RATES, key="rate", persist_state=KEEP)
    alpha = state.param("alpha_start", 1.0, float, lambda value: value in SHARPNESS)
    columns[1].select_slider(t("convolution.alpha_start"), SHARPNESS, key="alpha_start", persist_state=KEEP)
    free = state.flag("free_alpha", True)
    columns[2].toggle(t("convolution.free_alpha"), key="free_alpha", persist_state=KEEP)
    return Lesson(
        seed=seed, n_heads=n_heads, learning_rate=rate, alpha=alpha, free_alpha=free, start=start, steps=STEPS
    )


def _held(lesson: Lesson) -> Run:
    held = st.session_state.get(HELD)
    if held is None or held.lesson != lesson:
        held = st.session_state[HELD] = Run(lesson=lesson, run=learn(lesson, every=EVERY))
        held.shots.append(next(held.run))
    return held


def _stop() -> None:
    state.put("learned", st.session_state[HELD].shots[-1].step)


def _again() -> None:
    del st.session_state[HELD]
    st.session_state.pop("moment", None)
    state.put("learned", 0)


def lesson(t: Translate) -> "Classroom":
    """Draw the controls; the training itself runs when the rest of the page stands, so that nothing waits for it."""
    what = controls(t)
    state.whole("learned", 0, 0, STEPS)
    held = _held(what)
    done = held.shots[-1].step
    columns = st.columns(3)
    columns[0].button(
        t("convolution.learn" if done == 0 else "convolution.go_on"), key="learn", type="primary",
        on_click=state.put, args=("learned", STEPS), disabled=done == STEPS,
    )  # fmt: skip
    columns[1].button(t("convolution.stop"), key="stop", on_click=_stop, disabled=done == STEPS)
    columns[2].button(t("convolution.again"), key="again", on_click=_again, disabled=done == 0)
    return Classroom(t=t, held=held, place=st.container())


@dataclass(frozen=True, kw_only=True)
class Classroom:
    """A lesson and the place on the page where it is shown."""

    t: Translate
    held: Run
    place: DeltaGenerator

    def run(self) -> None:
        """Train up to where the link says, 20 steps at a time and never more lessons at once than the server allows."""
        with self.place:
            bar, live, before = st.empty(), st.empty(), len(self.held.shots)
            while self.held.shots[-1].step < st.session_state["learned"]:
                with aside(), compute.turns.turn("lesson", until):
                    shot = next(self.held.run)
                self.held.shots.append(shot)
                text = self.t("convolution.learning", step=shot.step, steps=STEPS, loss=f"{shot.loss:.1e}")
                bar.progress(shot.step / STEPS, text)
                if shot.step % DRAWN == 0 and shot.step < STEPS:
                    with live:
                        self._plane(len(self.held.shots) - 1, f"centres_{shot.step}")
            if len(self.held.shots) > before:
                state.put("moment", len(self.held.shots) - 1)
                st.rerun()  # the buttons above still say what they said before
            self._results()

    def _plane(self, last: int, key: str) -> None:
        shots = self.held.shots[: last + 1]
        paths, t = torch.stack([shot.heads.offset for shot in shots]), self.t
        fig = centres(
            paths, shots[-1].heads.alpha, x_title=t("convolution.columns"), y_title=t("convolution.rows"),
            head=t("heads.head"),
        )  # fmt: skip
        show(fig, key=key, alt=t("convolution.centres_alt", n=paths.shape[1], step=shots[-1].step))

    def _results(self) -> None:
        t, shots = self.t, self.held.shots
        last = len(shots) - 1
        if last:
            name = "moment"
            state.whole(name, last, 0, last)
            st.slider(t("convolution.moment", every=EVERY), 0, last, key=name, persist_state=KEEP)
            last = st.session_state[name]
        left, right = st.columns(2)
        with left:
            self._plane(last, "centres")
        with right:
            if len(shots) > 1:
                self._loss()
            self._kernels(shots[last])
        self._found(shots[last])

    def _loss(self) -> None:
        t, shots = self.t, self.held.shots
        losses = torch.tensor([shot.loss for shot in shots]).clamp(min=1e-12)
        steps = [float(shot.step) for shot in shots]
        fig = lines(
            steps, {"loss": losses}, at_title=t("convolution.steps"), value_title=t("convolution.loss"),
            log_values=True, height=200,
        )  # fmt: skip
        show(fig, key="loss", alt=t("convolution.loss_alt", loss=f"{shots[-1].loss:.1e}"))

    def _kernels(self, shot: Snapshot) -> None:
        hidden, found = teacher(self.held.lesson).kernel[0, 0], effective_kernel(shot.heads, 2)[0, 0]
        wide = torch.nn.functional.pad(hidden, (1, 1, 1, 1))
        low, high = shared_scale(wide, found)
        most = max(-low, high)
        panels = [
            Panel(title=self.t("convolution.hidden"), values=wide, low=-most, high=most, signed=True),
            Panel(title=self.t("convolution.student"), values=found, low=-most, high=most, signed=True),
        ]
        show(pictures(panels, across=2), key="kernels", alt=self.t("convolution.kernels_alt"))

    def _found(self, shot: Snapshot) -> None:
        offset, alpha = shot.heads.offset, shot.heads.alpha
        away = (offset - offset.round()).norm(dim=-1)
        variance = float(teacher(self.held.lesson).target.var(correction=0))
        st.markdown(
            self.t(
                "convolution.lesson_found", step=shot.step, loss=f"{shot.loss:.1e}", away=f"{float(away.mean()):.2f}",
                low=f"{float(alpha.min()):.2g}", high=f"{float(alpha.max()):.2g}", n=len(alpha),
                variance=f"{variance:.2f}", share=f"{shot.loss / variance:.1e}",
            )
        )  # fmt: skip
        st.markdown(self.t("convolution.lesson_free" if self.held.lesson.free_alpha else "convolution.lesson_fixed"))
