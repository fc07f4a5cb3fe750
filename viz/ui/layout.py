"""What every page has around its pictures: a title, where the numbers come from, a truth badge, the code that ran."""

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from viz.core.checks import largest, rows_error, sdpa_error, sum_error
from viz.core.heads import MultiHeadTrace
from viz.core.positions import OddWidthError
from viz.figures.unchecked import unchecked
from viz.models.capture import Capture
from viz.models.registry import ModelError
from viz.text import Translate, translator
from viz.ui import compute, state
from viz.ui.controls import Choice

IMAGES = ("png", "svg")
"""What the camera button of every figure may save."""
SDPA = 1e-5
"""How far the heads' outputs may be from torch's own, as a share of their largest number."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a page shows: a text as seen by one layer of heads, wherever they come from.

    No callback, label or download may hold on to it: Streamlit keeps those as long as the visitor stays.
    """

    t: Translate
    choice: Choice
    capture: Capture
    trace: MultiHeadTrace

    @property
    def labels(self) -> tuple[str, ...]:
        """What to write for each token."""
        return self.capture.tokens.labels


@dataclass(frozen=True, kw_only=True)
class Check:
    """One live check: what was compared (a text key), how far it is off, and how far it may be."""

    key: str
    error: float
    tolerance: float
    values: dict[str, Any]

    @property
    def passed(self) -> bool:
        """NaN does not pass."""
        return self.error <= self.tolerance


def check(key: str, error: Any, tolerance: float, **values: Any) -> Check:
    """Make a check; ``error`` may be a tensor of one number."""
    return Check(key=key, error=float(error), tolerance=tolerance, values=values)


def say_error(t: Translate, error: ValueError) -> None:
    """Show what is wrong and what to do, in the visitor's language where there is a sentence for it."""
    if isinstance(error, ModelError):
        st.error(t(f"error.{error.code}", **{name: _plain(value) for name, value in error.values.items()}))
    elif isinstance(error, OddWidthError):  # a choice that some parts of a page have no use for
        st.warning(t("error.odd_width", width=error.width))
    else:
        st.error(_plain(error))


def _plain(value: Any) -> str:
    """Text that Markdown shows as it is; only names of models and files come here, never a visitor's text."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|$:~" else c for c in str(value))


def open_page(name: str, *, about: Callable[[Scene], None] | None = None) -> Scene:
    """Draw a page's head and give what it shows; if that cannot be had, say why and stop.

    Args:
        name: of the page's texts.
        about: says where the page's numbers come from; None says it of the scene.
    """
    if "_choice" not in st.session_state:
        # A server's first visitor came by a link that names a file of pages/: Streamlit ran that file without app.py.
        PagesManager.uses_pages_directory = False
        st.rerun()
    chosen: Choice | ValueError = st.session_state["_choice"]
    t = translator(st.session_state["lang"])
    st.title(t(f"{name}.title"), anchor=False)
    st.markdown(t(f"{name}.lead"))
    st.session_state["_note"] = st.empty()  # filled when the page's own controls have read the link too
    try:
        if isinstance(chosen, ValueError):
            raise chosen
        capture = compute.read(chosen.source)
        trace = compute.trace(chosen.source, chosen.layer, chosen.mask)
    except ValueError as error:
        say_error(t, error)
        end_here(t)
    scene = Scene(t=t, choice=chosen, capture=capture, trace=trace)
    (about or provenance)(scene)
    cuts(scene)
    return scene


def end_here(t: Translate) -> NoReturn:
    """End the page where it is, after saying why: what was typed stays, and the link is as complete as the page."""
    note_refused(t)
    state.end()
    st.stop()


def note_refused(t: Translate) -> None:
    """Say at the top of the page, when it is complete, what the link asked for that is not possible here."""
    if refused := state.refused():
        st.session_state["_note"].info(t("note.refused", names=", ".join(refused)))


def provenance(scene: Scene) -> None:
    """One line that says which numbers these are, and which mask was added."""
    _say_source(scene, untouched=not blocks_more(scene))


def provenance_pooled(scene: Scene) -> None:
    """The same for a page that may pool heads, and says itself whether the numbers are still the model's own."""
    _say_source(scene, untouched=False)


def _say_source(scene: Scene, *, untouched: bool) -> None:
    t, choice, spec = scene.t, scene.choice, scene.trace.projections.spec
    source = choice.source
    line = t(
        f"source.{source.kind}_line", model=source.model, layer=choice.layer, last=scene.capture.n_layers - 1,
        seed=source.seed, H=spec.H, G=spec.G, kind=spec.kind, d_model=spec.d_model, d_k=spec.d_k, n=len(scene.labels),
    )  # fmt: skip
    st.caption(f"{line} {t('source.model_own')}" if untouched and source.kind == "model" else line)
    mask_added(scene)


def blocks_more(scene: Scene) -> bool:
    """Whether the visitor's mask blocks a cell that the source leaves open."""
    choice = scene.choice
    if choice.mask.kind == "own":
        return False
    own = compute.trace(choice.source, choice.layer, compute.Mask()).masked[0]  # the same cells in every head
    return not own.isneginf().equal(scene.trace.masked[0].isneginf())


def mask_added(scene: Scene) -> None:
    """Which mask the visitor laid over every head, if it does anything."""
    t, choice = scene.t, scene.choice
    if blocks_more(scene):
        kind = "model" if choice.source.kind == "model" else "seeded"
        st.caption(t(f"note.mask_{kind}", mask=t(f"mask.{choice.mask.kind}")))


def cuts(scene: Scene) -> None:
    """What was left out of a long text."""
    t, choice = scene.t, scene.choice
    if choice.dropped_characters:
        st.warning(t("note.dropped_characters", n=choice.dropped_characters))
    if scene.capture.tokens.dropped:
        st.warning(t("note.dropped_tokens", n=scene.capture.tokens.dropped, kept=len(scene.labels)))


def attention_checks(trace: MultiHeadTrace) -> list[Check]:
    """What must hold of every trace; float32 rounding is allowed for."""
    return [
        check("truth.rows", rows_error(trace.weights, trace.masked), 1e-5),
        check("truth.sdpa", sdpa_error(trace), SDPA * largest(trace.head_outputs)),
        check("truth.sum", sum_error(trace), 1e-5 * largest(trace.output)),
    ]


def show(fig: dict[str, Any], *, key: str, alt: str, on_click: Callable[[], None] | None = None) -> None:
    """Show a figure; its camera button saves it as the page's image format. A click on a point calls ``on_click``."""
    kind = state.choice("image", "png", IMAGES)
    save = {"format": kind, "filename": f"headlight-{key}", "scale": 2 if kind == "png" else 1}
    st.plotly_chart(
        unchecked(fig), key=key, alt=alt, config={"displaylogo": False, "toImageButtonOptions": save},
        on_select=on_click or "ignore", selection_mode="points",
    )  # fmt: skip


def truth(t: Translate, checks: Iterable[Check]) -> None:
    """The truth badge: live checks of what the page shows, each with its number."""
    done = list(checks)
    passed = all(one.passed for one in done)
    with st.expander(t("truth.passed" if passed else "truth.failed", n=len(done)), expanded=not passed):
        for one in done:
            mark = "✓" if one.passed else "✗"
            off = f"{one.error:.1e}" if math.isfinite(one.error) else str(one.error)
            st.markdown(f"{mark} {t(one.key, **one.values)} — {t('truth.off', off=off)}")


_source = cache(inspect.getsource)


def source_code(t: Translate, *functions: Callable[..., Any]) -> None:
    """The code that ran, read from the running modules."""
    with st.expander(t("code.title")):
        st.caption(t("code.lead"))
        for function in functions:
            st.code(_source(function), language="python")
