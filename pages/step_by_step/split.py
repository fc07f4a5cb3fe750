"""The split into heads: cut every word's vector, then move the heads in front of the words."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.step_by_step.context import StepByStepContext
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.analysis.checks import largest
from viz.core.analysis.torch_module import MultiHeadAttention, torch_module
from viz.core.attention import attend
from viz.core.heads import HeadWeights, concat_heads, multi_head, project, share_kv, split_heads
from viz.core.mistakes.attention import split_without_transpose
from viz.core.spec import AttentionSpec
from viz.errors import ModelError
from viz.frame.checks import Check, asked_of, check
from viz.frame.format import at_most, share
from viz.frame.modes import say
from viz.frame.scene import refuse_latent
from viz.frame.shared import TOY_HEADS
from viz.frame.show import show_matrix
from viz.params import Flag, Scope

WIDTH, WORDS = 8, 3
"""Size of the small example: numbers in a vector, and words."""
SPLIT_HEADS = TOY_HEADS.variant(default=2, among=(1, 2, 4, 8), scope=Scope("split"))
"""Number of heads of the small example."""
NO_TRANSPOSE = Flag("no_transpose")
LENGTHS = (3, 2, 1)
"""Words of each text of the batch: as many texts as words, so that a mask without its axes raises no error."""


def draw(context: StepByStepContext) -> list[Check]:
    """Draw the numbers of three words before and after the split, the layer's shapes, and the standard class."""
    refuse_latent(context.scene)
    if context.scene.call.value_eps is not None:
        raise ModelError("values", model=context.scene.choice.source.model)
    t, spec = context.t, context.spec
    h, wrong = SPLIT_HEADS.read(), NO_TRANSPOSE.read()
    words = _words(context)
    x = torch.arange(len(words))[:, None] * 10.0 + torch.arange(WIDTH)
    owners = (torch.arange(WIDTH) // (WIDTH // h)).float().expand_as(x)
    cut = split_without_transpose if wrong else split_heads
    before, after = st.columns(2)
    with before:
        say(t("step_by_step.split.before", n=len(words), d=WIDTH))
        matrix = _numbers(x, owners, Axis(words, ""), t("step_by_step.split.column"))
        show_matrix(t, matrix, key="split_before", alt=t("step_by_step.split.before_alt", n=len(words), h=h))
    with after:
        what = "after_wrong" if wrong and h > 1 and len(words) > 1 else "after"
        say(t(f"step_by_step.split.{what}", n=len(words), h=h, d_k=WIDTH // h))
        rows = [t("step_by_step.split.row", head=head, word=word) for head in range(h) for word in words]
        matrix = _numbers(cut(x, h).flatten(0, 1), cut(owners, h).flatten(0, 1), Axis(rows, ""))
        show_matrix(t, matrix, key="split_after", alt=t("step_by_step.split.after_alt", h=h))
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        SPLIT_HEADS.select_slider(t("step_by_step.split.heads"), width=260)
        NO_TRANSPOSE.toggle(t("step_by_step.split.forget"))
    weights, tokens = context.trace.projections, context.trace.x
    apart = _change(tokens, weights, asked_of(context.scene))
    if wrong and h > 1 and len(words) == 1:
        st.info(t("step_by_step.split.one"))
    elif wrong and h > 1:
        st.error(t("step_by_step.split.wrong", change=share(apart)))
    else:
        # The second word, if there is one.
        word = min(1, len(words) - 1)
        say(t("step_by_step.split.right", number=10 * word + 2, word=word, change=share(apart)))
    if context.is_changed or context.scene.call.gate is not None:
        st.caption(t("step_by_step.split.apart"))
    say(t("step_by_step.split.shapes", n=len(tokens), d=spec.H * spec.d_k, H=spec.H, d_k=spec.d_k))
    return [_check_loop(tokens, weights), *_batch(context)]


def _numbers(values: Tensor, owners: Tensor, rows: Axis, column_title: str = "") -> Matrix:
    """Return a matrix with each number on the colour of its head."""
    columns = numbered(values.shape[1], column_title)
    return Matrix(values=values, rows=rows, columns=columns, kind="sizes", owners=owners, numbers=True, scale=False)


def _words(context: StepByStepContext) -> list[str]:
    """Return the first words of the text without special tokens."""
    tokens = context.scene.capture.tokens
    words = [label for label, special in zip(tokens.labels, tokens.special, strict=True) if not special]
    return words[:WORDS] or list(tokens.labels[:WORDS])


def _output(
    cut: Callable[[Tensor, int], Tensor], x: Tensor, weights: HeadWeights, options: Mapping[str, Any]
) -> Tensor:
    """Return the output of the layer, as projected, with its heads cut by ``cut`` and merged by its inverse.

    ``options`` are those of its attention: mask, bias, scale and soft cap.
    """
    spec = weights.spec
    q, k, v = (
        cut(project(x, getattr(weights, f"w_{name}"), getattr(weights, f"b_{name}")), heads)
        for name, heads in (("q", spec.H), ("k", spec.G), ("v", spec.G))
    )
    heads = attend(q, share_kv(k, spec.H), share_kv(v, spec.H), **options).output
    back = concat_heads(heads) if cut is split_heads else heads.reshape(len(x), -1)
    return project(back, weights.w_o, weights.b_o)


def _change(x: Tensor, weights: HeadWeights, options: Mapping[str, Any]) -> float:
    """Relative change of the layer's output without the transpose, as a mean over words; 0 if it writes nothing."""
    right, wrong = (_output(cut, x, weights, options) for cut in (split_heads, split_without_transpose))
    return float(((wrong - right).norm(dim=-1) / right.norm(dim=-1)).nanmean().nan_to_num())


def _check_loop(x: Tensor, weights: HeadWeights) -> Check:
    """Compare heads cut from one large product with one small product per head."""
    spec = weights.spec
    at_once = split_heads(project(x, weights.w_q, weights.b_q), spec.H)
    off = 0.0
    for head in range(spec.H):
        columns = slice(head * spec.d_k, (head + 1) * spec.d_k)
        bias = 0 if weights.b_q is None else weights.b_q[columns]
        off = max(off, float((at_once[head] - (x @ weights.w_q[:, columns] + bias)).abs().max()))
    return check("step_by_step.split.check_loop", off, 1e-5 * largest(at_once), H=spec.H)


def _batch(context: StepByStepContext) -> list[Check]:
    """Run the standard class on a batch of texts of unequal length: against the core, and with a wrong mask."""
    t, B = context.t, len(LENGTHS)
    n = max(LENGTHS)
    weights = HeadWeights.random(AttentionSpec(d_model=WIDTH, n_heads=2), seed=0)
    module = torch_module(weights)
    x = torch.randn(B, n, WIDTH, generator=torch.Generator().manual_seed(1))
    real = torch.arange(n) < torch.tensor(LENGTHS)[:, None]
    with torch.inference_mode():
        output = module(x, real)
        ours = torch.stack([multi_head(x[b], x[b], weights, allowed=real[b].expand(n, n)).output for b in range(B)])
        silent = float((_without_axes(module, x, real) - output)[real].abs().max())
    with st.expander(t("step_by_step.split.batch_title")):
        say(t("step_by_step.split.batch", B=B, n=n))
        say(t("step_by_step.split.batch_wrong", B=B, silent=at_most(silent)))
    off = (output - ours)[real].abs().max()
    return [check("step_by_step.split.check_module", off, 1e-5 * largest(ours))]


def _without_axes(module: MultiHeadAttention, x: Tensor, mask: Tensor) -> Tensor:
    """Return the output with a (B, T) mask without its two axes; with B = T it broadcasts and raises no error."""
    q, k, v = module.split(module.q_proj(x)), module.split(module.k_proj(x)), module.split(module.v_proj(x))
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
    return module.o_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))
