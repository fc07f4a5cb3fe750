"""What every page has around its pictures: a title, where the numbers come from, a truth badge, the code that ran."""

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.core.heads import MultiHeadTrace
from viz.models.capture import Capture
from viz.models.registry import ModelError
from viz.text import Translate, translator
from viz.ui import compute, state
from viz.ui.controls import Choice


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a page shows: a text as seen by one layer of heads, wherever they come from."""

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
    else:
        st.error(_plain(error))


def _plain(value: Any) -> str:
    """Text that Markdown shows as it is; only names of models and files come here, never a visitor's text."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|$:~" else c for c in str(value))


def open_page(name: str, choice: Choice | ValueError | None = None) -> Scene:
    """Draw a page's head and give what it shows; if that cannot be had, say why and stop."""
    chosen: Choice | ValueError = choice or st.session_state["_choice"]
    t = translator(st.session_state["lang"])
    st.title(t(f"{name}.title"), anchor=False)
    st.markdown(t(f"{name}.lead"))
    if refused := state.refused():
        st.info(t("note.refused", names=", ".join(refused)))
    try:
        if isinstance(chosen, ValueError):
            raise chosen
        capture = compute.read(chosen.source)
        trace = compute.trace(chosen.source, chosen.layer, chosen.mask)
    except ValueError as error:
        say_error(t, error)
        st.stop()
    scene = Scene(t=t, choice=chosen, capture=capture, trace=trace)
    _provenance(scene)
    return scene


def _provenance(scene: Scene) -> None:
    """One line that says which numbers these are, and what was left out or added."""
    t, choice, spec = scene.t, scene.choice, scene.trace.projections.spec
    source = choice.source
    st.caption(
        t(
            f"source.{source.kind}_line", model=source.model, layer=choice.layer, last=scene.capture.n_layers - 1,
            seed=source.seed, H=spec.H, G=spec.G, kind=spec.kind, d_model=spec.d_model, d_k=spec.d_k,
            n=len(scene.labels),
        )
    )  # fmt: skip
    if choice.mask.kind != "own":
        st.caption(
            t(f"note.mask_{'model' if source.kind == 'model' else 'seeded'}", mask=t(f"mask.{choice.mask.kind}"))
        )
    if choice.dropped_characters:
        st.warning(t("note.dropped_characters", n=choice.dropped_characters))
    if scene.capture.tokens.dropped:
        st.warning(t("note.dropped_tokens", n=scene.capture.tokens.dropped, kept=len(scene.labels)))


def truth(t: Translate, checks: Iterable[Check]) -> None:
    """The truth badge: live checks of what the page shows, each with its number."""
    done = list(checks)
    passed = all(one.passed for one in done)
    with st.expander(t("truth.passed" if passed else "truth.failed", n=len(done)), expanded=not passed):
        for one in done:
            mark = "✓" if one.passed else "✗"
            off = f"{one.error:.1e}" if math.isfinite(one.error) else str(one.error)
            st.markdown(f"{mark} {t(one.key, **one.values)} — {t('truth.off', off=off)}")


def source_code(t: Translate, *functions: Callable[..., Any]) -> None:
    """The code that ran, read from the running modules."""
    with st.expander(t("code.title")):
        st.caption(t("code.lead"))
        for function in functions:
            st.code(inspect.getsource(function), language="python")
