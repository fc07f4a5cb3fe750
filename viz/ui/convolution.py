"""One dimension of the Convolution page: windows on the visitor's words, and filters on a signal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad

from viz.core.attention import AttentionTrace, attend
from viz.core.heads import share_kv
from viz.core.relative import factored_scores, heads_from_kernel, kernel_offsets, quadratic_scores
from viz.figures.lesson import lines
from viz.figures.palette import BLUE, HEADS, ORANGE
from viz.text import Translate, sentences
from viz.ui import limits, state
from viz.ui.controls import KEEP
from viz.ui.layout import Check, Scene, check, show
from viz.views.head_grid import pack
from viz.views.mount import mount

VIEW = "quadratic_heads"
WORDS = "windows"
HUES = {"positive": BLUE, "negative": ORANGE, "heads": HEADS}
SHARP = 46.0
"""An alpha at which e^-alpha is below float32's last digit: the layer is the convolution."""

ALIKE = 1e-5
"""Weights that differ by less than this part are equal but for rounding; the view in the browser says the same."""
HIGHEST = 100.0
FARTHEST = 12.0
ALPHAS, DELTAS = (2.0, 0.3, 0.05), (-1.0, 0.0, 3.0)
TAPS: Mapping[str, tuple[float, ...]] = {
    "average": (1 / 3, 1 / 3, 1 / 3),
    "shift": (1.0, 0.0, 0.0),
    "difference": (-1.0, 0.0, 1.0),
    "gaussian": (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16),
}
OWN_TAPS = 5


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What the parts of the page share; ``checks`` grows as they run."""

    scene: Scene
    checks: list[Check] = field(default_factory=list)

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t


def reals(name: str, usual: Sequence[float], low: float, high: float) -> list[float]:
    """A parameter that is some numbers, as many as ``usual``; in the link they are joined by "_"."""

    def ok(raw: str) -> bool:
        try:
            return len(found := read_reals(raw)) == len(usual) and all(low <= one <= high for one in found)
        except ValueError:
            return False

    return read_reals(state.param(name, write_reals(usual), str, ok))


def read_reals(raw: str) -> list[float]:
    """Numbers joined by "_".

    Example:
        >>> read_reals("1.5_-2")
        [1.5, -2.0]
    """
    return [float(part) for part in raw.split("_")]


def write_reals(values: Sequence[float]) -> str:
    """Undo :func:`read_reals`, with at most four digits.

    Example:
        >>> write_reals([1.5, -2.0])
        '1.5_-2'
    """
    return "_".join(f"{value:.4g}" for value in values)


def view_words(scene: Scene) -> dict[str, str]:
    """The texts of the view in the browser."""
    words = sentences(scene.choice.lang)
    return {key.removeprefix(f"{VIEW}."): words[key] for key in words if key.startswith(f"{VIEW}.")}


def sent_before(key: str) -> int:
    """How many choices the view has sent so far."""
    before = st.session_state.get(key, {}).get("choice") or {}
    sent = before.get("sent", 0)
    return sent if isinstance(sent, int) else 0


def read_choice(sent: Any, lists: Mapping[str, str], wholes: Mapping[str, str]) -> dict[str, Any]:
    """What a view sent, as parameters, as far as it has the right types; anything else is left out.

    Args:
        sent: from the browser, so it may be anything.
        lists: what is sent as a list of numbers -> the parameter's name.
        wholes: what is sent as a whole number -> the parameter's name.

    Example:
        >>> read_choice({"alphas": [1, 2.5], "head": "x", "query": 3}, {"alphas": "a"}, {"head": "h", "query": "q"})
        {'a': '1_2.5', 'q': 3}
    """
    if not isinstance(sent, Mapping):
        return {}

    def number(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    found: dict[str, Any] = {
        name: write_reals(sent[key])
        for key, name in lists.items()
        if isinstance(sent.get(key), list) and all(map(number, sent[key]))
    }
    return found | {name: sent[key] for key, name in wholes.items() if type(sent.get(key)) is int}


def windows(bench: Bench) -> None:
    """Three windows on the visitor's words, live in the browser; this layer's own content can be mixed in."""
    scene, t, n = bench.scene, bench.t, min(len(bench.scene.labels), limits.WINDOW_TOKENS)
    alphas, deltas = reals("w_alpha", ALPHAS, 0, HIGHEST), reals("w_delta", DELTAS, -FARTHEST, FARTHEST)
    mix = state.real("mix", 0.0, 0.0, 1.0)
    head, query = state.whole("window", 0, 0, 2), state.whole("asks", min(3, n - 1), 0, n - 1)
    content = [i % scene.trace.weights.shape[0] for i in range(3)]
    scores = scene.trace.scaled[content, :n, :n].masked_fill(scene.trace.masked[content, :n, :n].isinf(), -torch.inf)
    header = {
        "kind": "sequence", "n": n, "labels": scene.labels[:n], "heads": [t("convolution.head", i=i) for i in range(3)],
        "choice": {"alphas": alphas, "deltas": deltas, "mix": mix, "head": head, "query": query},
        "sent": sent_before(WORDS), "hues": HUES, "words": view_words(scene),
    }  # fmt: skip
    mount(VIEW, key=WORDS, data=pack(header, {"scores": scores.float()}).data, on_choice_change=_take_windows)
    if n < len(scene.labels):
        st.caption(t("convolution.first", n=n))
    steps = window_steps(scene, content, alphas, deltas, mix, n)
    st.text(_most(scene, steps.weights[head, query], query))
    offset, alpha = torch.tensor(deltas)[:, None], torch.tensor(alphas)
    square, product = quadratic_scores(offset, alpha, (n,)), factored_scores(offset, alpha, (n,))
    constant = (alpha[:, None] * offset.square())[:, None]
    size = max(1.0, float(square.abs().max()))
    bench.checks.append(check("convolution.check_square", (product - square - constant).abs().max(), 1e-6 * size))


def _most(scene: Scene, row: Tensor, query: int) -> str:
    """Where a query looks most: at one key, at several alike, or nowhere."""
    t, best, most = scene.t, int(row.argmax()), float(row.max())
    alike = int((row >= most * (1 - ALIKE)).sum())
    name = "nowhere" if most == 0 else "alike" if alike > 1 else "found"
    return t(
        f"convolution.window_{name}", query=scene.labels[query], key=scene.labels[best], value=f"{most:.4f}",
        shift=best - query, n=alike,
    )  # fmt: skip


def window_steps(
    scene: Scene, content: Sequence[int], alphas: Sequence[float], deltas: Sequence[float], mix: float, n: int
) -> AttentionTrace:
    """The same three heads by the core: this layer's q and k, times ``mix``, plus the window."""
    trace = scene.trace
    H = trace.weights.shape[0]
    q, k, v = trace.q[content, :n], share_kv(trace.k, H)[content, :n], share_kv(trace.v, H)[content, :n]
    hidden = trace.masked[content, :n, :n].isinf()
    bias = quadratic_scores(torch.tensor(deltas)[:, None], torch.tensor(alphas), (n,))
    return attend(q, k, v, bias=bias, allowed=~hidden, scale=mix * trace.scale)


def _take_windows() -> None:
    sent = st.session_state[WORDS].get("choice")
    found = read_choice(sent, {"alphas": "w_alpha", "deltas": "w_delta"}, {"head": "window", "query": "asks"})
    if isinstance(sent, Mapping) and isinstance(sent.get("mix"), int | float):
        found["mix"] = float(sent["mix"])
    for name, value in found.items():
        state.put(name, value)


def signal() -> Tensor:
    """A step, a wave and a spike: 47 samples, one channel."""
    at = torch.arange(47.0)
    made = 0.5 * torch.sin(at / 3) + (at > 22).float()
    made[35] += 1.5
    return made[None]


def _taps(bench: Bench) -> tuple[float, ...]:
    t = bench.t
    name = state.choice("taps", "average", (*TAPS, "own"))
    st.segmented_control(
        t("convolution.taps"), (*TAPS, "own"), key="taps", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"convolution.taps_{code}"),
    )  # fmt: skip
    if name != "own":
        return TAPS[name]
    made = []
    for i, column in enumerate(st.columns(OWN_TAPS)):
        made.append(state.real(f"tap{i}", float(i == OWN_TAPS // 2), -9.0, 9.0))
        column.number_input(f"Δ = {i - OWN_TAPS // 2}", -9.0, 9.0, step=0.1, key=f"tap{i}", persist_state=KEEP)
    return tuple(made)


def filters(bench: Bench) -> None:
    """A few heads and W_O are a filter: beside torch's conv1d."""
    t, kernel = bench.t, torch.tensor(_taps(bench))[None, None]
    sharp = alpha_slider(t, "alpha_1d", 5.0)
    heads, wave = heads_from_kernel(kernel, alpha=sharp), signal()
    half = kernel.shape[-1] // 2
    found, expected = heads.layer(wave), conv1d(pad(wave[None], (half, half), mode="replicate"), kernel)[0]
    offsets = kernel_offsets(kernel.shape[2:])[:, 0]
    parts = "  +  ".join(
        f"{float(w):.3g} · {t('convolution.head', i=i)} (Δ = {int(d)})"
        for i, (w, d) in enumerate(zip(kernel.flatten(), offsets, strict=True))
    )
    st.text(parts)
    series = {
        t("convolution.signal"): wave[0], t("convolution.attention"): found[0], "conv1d": expected[0],
    }  # fmt: skip
    error = float((found - expected).abs().max())
    sentence = t("convolution.filter_found", alpha=f"{sharp:g}", error=f"{error:.1e}")
    st.markdown(sentence)
    show(
        lines(range(wave.shape[1]), series, at_title=t("convolution.place"), value_title=t("convolution.value")),
        key="filter", alt=sentence,
    )  # fmt: skip
    exact = heads.sharpened(SHARP).layer(wave)
    size = max(1.0, float(expected.abs().max()))
    bench.checks.append(check("convolution.check_1d", (exact - expected).abs().max(), 1e-5 * size, alpha=f"{SHARP:g}"))


def alpha_slider(t: Translate, name: str, usual: float) -> float:
    """A slider for alpha, in even steps of a ratio."""
    steps = [0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 46.0, 100.0]
    state.param(name, usual, float, lambda value: value in steps)
    st.select_slider(
        t("convolution.alpha"), steps, key=name, persist_state=KEEP, format_func=lambda value: f"α = {value:g}"
    )
    return float(st.session_state[name])
