"""Sharing in code: a correct module, beside versions that raise or pair the wrong heads."""

import inspect
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.share_kv import compute
from pages.share_kv.compute import ModuleErrors
from pages.share_kv.context import ShareKvContext, beside_groups
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.analysis.checks import added_to_scores, largest, worst
from viz.core.analysis.grouped_module import GroupedQueryAttention, load_grouped
from viz.core.heads import MultiHeadTrace
from viz.core.mistakes.kv_sharing import FiveAxes, Tiled, TooManyCopies
from viz.core.variants.kv_sharing import divisors
from viz.frame.checks import Check, check
from viz.frame.format import at_most
from viz.frame.modes import say
from viz.frame.show import show_bars, show_matrix
from viz.frame.specs import Source
from viz.params import Choice

VERSIONS: dict[str, type[GroupedQueryAttention]] = {
    "runs": GroupedQueryAttention,
    "tiled": Tiled,
    "five_axes": FiveAxes,
    "too_many": TooManyCopies,
}
GQA_CODE = Choice("gqa_code", among=tuple(VERSIONS))
TRIED_TOKENS = 32
"""Most tokens for a version that makes G times too many copies."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An exception of torch: its kind and message, and the function and line that raised it."""

    kind: str
    message: str
    function: Callable[..., Any]
    line: int


def draw(context: ShareKvContext) -> list[Check]:
    """Draw torch's pairing of heads by two calls, the code of a version with its result, and the mistake's effect."""
    t = context.t
    with beside_groups(context):
        _strip(context)
    version = GQA_CODE.pills(
        t("share_kv.in_code.version"), says=lambda code: t(f"share_kv.in_code.{code}"), label_visibility="collapsed"
    )
    choice = context.scene.choice
    errors = {g: compute.module_errors(source, choice.layer, choice.mask, g) for g, source in _with_every_g(context)}
    _code(context, version, errors[context.n_kv_heads])
    _bars(context, errors)
    return _checks(context, errors)


def _with_every_g(context: ShareKvContext) -> list[tuple[int, Source]]:
    """Return every valid G and its source: a model's own heads are pooled, seeded ones drawn anew."""
    source = context.scene.choice.source
    if context.is_model:
        return [(g, source) for g in divisors(context.kv_heads_before)]
    return [(g, replace(source, n_kv_heads=g)) for g in divisors(context.spec.H)]


def heads_read(version: type[GroupedQueryAttention], context: ShareKvContext) -> Tensor:
    """Return each query head's key/value head, found by passing the heads' numbers through the version: (H,)."""
    spec = context.spec
    # Copying needs no weights.
    with torch.device("meta"):
        module = version(spec)
    numbers = torch.arange(float(spec.G)).repeat_interleave(spec.d_k)
    return module.for_every_head(numbers[None, None])[0, :, 0, 0]


def _strip(context: ShareKvContext) -> None:
    """Draw two rows of numbers: the key/value head of each query head."""
    t = context.t
    rows = {"repeat_interleave": GroupedQueryAttention, "repeat": Tiled}
    reads = torch.stack([heads_read(version, context) for version in rows.values()])
    matrix = Matrix(
        values=reads,
        rows=Axis(list(rows), ""),
        columns=numbered(context.spec.H, ""),
        kind="sizes",
        owners=reads,
        numbers=True,
        scale=False,
    )
    show_matrix(t, matrix, key="who_reads", alt=t("share_kv.in_code.strip_alt"))
    st.caption(t("share_kv.in_code.query_head"))
    wrong = int((reads[0] != reads[1]).sum())
    say(t("share_kv.in_code.strip_found", wrong=wrong, H=context.spec.H))


def tried(version: type[GroupedQueryAttention], layer: MultiHeadTrace) -> Refusal | None:
    """Run a version on the first words of the layer's own input; return its exception, if any."""
    module, n = load_grouped(layer.projections, version), TRIED_TOKENS
    try:
        with torch.inference_mode():
            module(layer.x[None, :n], layer.memory[None, :n])
    except (IndexError, RuntimeError) as error:
        methods: list[Any] = [version.for_every_head, version.split, version.attend, version.forward]
        functions = {(method := inspect.unwrap(wrapped)).__code__: method for wrapped in methods}
        frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
        code, line = next(place for place in reversed(frames) if place[0] in functions)
        return Refusal(kind=type(error).__name__, message=str(error), function=functions[code], line=line)
    return None


def mark_line(function: Callable[..., Any], line: int, mark: str) -> str:
    """Return the source of a function, with a mark at a line of its file."""
    lines, first = inspect.getsourcelines(function)
    lines = textwrap.dedent("".join(lines)).splitlines()
    lines[line - first] += f"  # ← {mark}"
    return "\n".join(lines)


def _code(context: ShareKvContext, version: str, errors: ModuleErrors) -> None:
    """Draw the lines in which the versions differ, and the result of running them."""
    t, layer = context.t, context.layer
    refusal = tried(VERSIONS[version], layer)
    if refusal:
        st.code(mark_line(refusal.function, refusal.line, refusal.kind), language="python")
        st.error(t("share_kv.in_code.raised", kind=refusal.kind))
        st.code(refusal.message, language=None, wrap_lines=True)
        say(t(f"share_kv.in_code.{version}_says", G=context.n_kv_heads, H=context.spec.H))
        return
    st.code(textwrap.dedent(inspect.getsource(VERSIONS[version].for_every_head)), language="python")
    if version == "too_many":
        say(t("share_kv.in_code.too_many_one"))
        return
    off = errors.tiled if version == "tiled" else errors.module
    numbers = {"off": at_most(off), "G": context.n_kv_heads, "layer": context.scene.layer_number}
    say(t(f"share_kv.in_code.{version}_says", **numbers))
    if context.scene.call.rotary:
        st.caption(t("share_kv.in_code.rotary"))


def _bars(context: ShareKvContext, errors: dict[int, ModuleErrors]) -> None:
    t = context.t
    chart = BarChart(
        [f"G = {g}" for g in errors],
        {t("share_kv.in_code.off"): torch.tensor([error.tiled for error in errors.values()])},
        title=t("share_kv.groups"),
        value_title=t("share_kv.in_code.off"),
        height=220,
    )
    show_bars(chart, key="tiled_off", alt=t("share_kv.in_code.bars"))
    st.caption(t("share_kv.in_code.bars"))


def _checks(context: ShareKvContext, errors: dict[int, ModuleErrors]) -> list[Check]:
    G, layer, options = context.n_kv_heads, context.layer, context.layer_options
    size = largest(layer.output)
    mixed_up = context.with_kv_heads(G, mistake=True).output
    order = abs(float((mixed_up - layer.output).abs().max()) - errors[G].tiled)
    must_raise = ("five_axes", "too_many") if context.spec.H > 1 else ("five_axes",)
    ran = [name for name in must_raise if not tried(VERSIONS[name], layer)]
    off = worst(error.module / error.size for error in errors.values())
    checks = [
        check("share_kv.in_code.check_module", off, 1e-5, G=", ".join(map(str, errors))),
        check("share_kv.in_code.check_tiled", order, 1e-5 * size, G=G),
        check("share_kv.in_code.check_raise", len(ran), 0.0, n=len(must_raise), G=G),
    ]
    # Else q and k are rotated or normalised between projection and attention.
    if not context.scene.call.is_changed:
        with torch.inference_mode():
            module = load_grouped(layer.projections, scale=options.get("scale"))
            output = module(layer.x[None], layer.memory[None], added_to_scores(layer.q, layer.k, **options))[0]
        checks.append(check("share_kv.in_code.check_whole", (output - layer.output).abs().max(), 1e-5 * size, G=G))
    return checks
