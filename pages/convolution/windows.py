"""Three windows on the user's words: heads that attend by position alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext, say_first
from pages.convolution.link_numbers import read_reals, reals, write_reals
from pages.convolution.live_view import ALPHA, HIGHEST_ALPHA, live_view
from viz import limits
from viz.components import kinds
from viz.components.head_grid import pack
from viz.core.analysis.checks import largest
from viz.core.attention import AttentionTrace, attend
from viz.core.heads import share_kv
from viz.core.variants.relative import factored_scores, quadratic_scores
from viz.frame.checks import Check, asked_of, check, open_cells
from viz.frame.modes import say
from viz.frame.scene import Scene
from viz.params import Int, Real

FORMULA = (
    r"\begin{aligned} v \cdot r_\delta &= -\alpha\,(1, -2\Delta) \cdot (\delta^2, \delta)"
    r" \\ &= -\alpha\,(\delta - \Delta)^2 + \alpha\Delta^2, \quad \delta = j - i \end{aligned}"
)
FARTHEST = 12.0
ALPHAS, DELTAS = (2.0, 0.3, 0.05), (-1.0, 0.0, 3.0)
N = len(ALPHAS)
CHOICE = kinds.Fields(
    alphas=kinds.Many(ALPHA, N, N),
    deltas=kinds.Many(kinds.Real(-FARTHEST, FARTHEST), N, N),
    mix=kinds.Real(0, 1),
    head=kinds.Integer(0, N - 1),
    query=kinds.Integer(0, limits.WINDOW_TOKENS - 1),
)
VIEW = live_view(CHOICE)
W_ALPHA, W_DELTA = reals("w_alpha", ALPHAS, 0, HIGHEST_ALPHA), reals("w_delta", DELTAS, -FARTHEST, FARTHEST)
MIX = Real("mix", high=1.0)
WINDOW = Int("window", high=N - 1)
ASKS = Int("asks", 3, high=lambda n: n - 1)


@dataclass(frozen=True, kw_only=True)
class Windows:
    """The view's choice: each head's alpha and Delta, how much content is mixed in, and the open head and query."""

    alphas: list[float]
    deltas: list[float]
    mix: float
    head: int
    query: int


def draw(context: ConvolutionContext) -> list[Check]:
    """The windows, live in the browser; this layer's own content can be mixed in."""
    t, scene, n = context.t, context.scene, context.n
    windows = _read_windows(n)
    content = [i % scene.trace.weights.shape[0] for i in range(len(ALPHAS))]
    _live(context, windows, content)
    say_first(context)
    steps = window_steps(scene, content, windows, n)
    say(t("convolution.windows.shows"))
    return _checks(scene, content, windows, steps)


def _read_windows(n: int) -> Windows:
    return Windows(
        alphas=read_reals(W_ALPHA.read()),
        deltas=read_reals(W_DELTA.read()),
        mix=MIX.read(),
        head=WINDOW.read(),
        query=ASKS.read(n),
    )


def _live(context: ConvolutionContext, windows: Windows, content: Sequence[int]) -> None:
    t, trace, n = context.t, context.scene.trace, context.n
    scores = trace.scaled[content, :n, :n].masked_fill(trace.masked[content, :n, :n].isinf(), -torch.inf)
    header = {
        "kind": "sequence",
        "n": n,
        "labels": context.labels,
        "heads": [t("convolution.head", i=i) for i in range(len(ALPHAS))],
        "choice": vars(windows),
    }
    VIEW.mount(key="windows", data=pack(header, {"scores": scores.float()}).data, on={"choice": _choose})


def _choose(choice: Mapping[str, Any]) -> None:
    W_ALPHA.set(write_reals(choice["alphas"]))
    W_DELTA.set(write_reals(choice["deltas"]))
    MIX.set(choice["mix"])
    WINDOW.set(choice["head"])
    ASKS.set(choice["query"])


def window_steps(scene: Scene, content: Sequence[int], windows: Windows, n: int) -> AttentionTrace:
    """The same heads by the core: this layer's q and k, times the mix, plus the window."""
    trace = scene.trace
    H = trace.weights.shape[0]
    q, k, v = trace.q[content, :n], share_kv(trace.k, H)[content, :n], share_kv(trace.v, H)[content, :n]
    hidden = trace.masked[content, :n, :n].isinf()
    bias = quadratic_scores(torch.tensor(windows.deltas)[:, None], torch.tensor(windows.alphas), (n,))
    return attend(q, k, v, bias=bias, allowed=~hidden, scale=windows.mix * trace.scale)


def _checks(scene: Scene, content: Sequence[int], windows: Windows, steps: AttentionTrace) -> list[Check]:
    trace, n = scene.trace, steps.weights.shape[-1]
    offset, alpha = torch.tensor(windows.deltas)[:, None], torch.tensor(windows.alphas)
    product, square = factored_scores(offset, alpha, (n,)), by_hand.window_scores(offset, alpha, (n,))
    constant = (alpha[:, None] * offset.square())[:, None]
    q, k = trace.q[content, :n].double(), share_kv(trace.k, trace.weights.shape[0])[content, :n].double()
    scale = asked_of(scene).get("scale") or 1 / math.sqrt(q.shape[-1])
    mixed = windows.mix * scale * (q @ k.mT)
    hidden = ~open_cells(scene)[content, :n, :n]
    weights = by_hand.softmax((mixed + square).masked_fill(hidden, -torch.inf))
    return [
        check("convolution.check_square", (product - square - constant).abs().max(), 1e-6 * largest(square)),
        check("convolution.check_windows", (steps.weights - weights).abs().max(), 1e-5 * largest(mixed)),
    ]
