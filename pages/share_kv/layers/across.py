"""Keys and values shared across layers: neighbours read those of the first of their group, or the last layers share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.share_kv import compute
from pages.share_kv.context import ShareKvContext, choose_head, draw_groups, map_pair, say_cut, say_whose_numbers
from viz import limits
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import sdpa_heads, sdpa_weights, worst
from viz.core.attention import AttentionTrace, options_of_first
from viz.core.cost.mixed import FullCost, LayerCost, SharedKVCost, cache_bytes
from viz.core.nested import double
from viz.core.variants.layer_sharing import attend_to_source, grouped_sources, kv_sources
from viz.frame.checks import Check, check
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.format import part
from viz.frame.lazy import lazy
from viz.frame.modes import say
from viz.frame.shared import GROUP_SIZE
from viz.frame.show import show_bars, show_matrix
from viz.models.published import models
from viz.params import Int, Scope
from viz.text.sizes import size

SHARED_LAYERS = r"""\begin{gathered}
\operatorname{head}_i^l = \operatorname{attend}\big(Q_i^l,\; K_{g(i)}^{s},\; V_{g(i)}^{s}\big)
\\ s = g \lfloor l / g \rfloor, \qquad C = 2\, \lceil L / g \rceil\, G\, d_k\, n\, b
\end{gathered}"""

SIZE = GROUP_SIZE.variant(high=lambda n_layers: n_layers, scope=Scope("across"))
READING_LAYER = Int("reading_layer", lambda numbers: numbers[1], among=lambda numbers: numbers)
"""By the model's own number, as the chip of a layer has it."""


@dataclass(frozen=True, kw_only=True)
class SharedStack:
    """The layers of a source with their numbers, in groups of ``size``; maps and checks are of the first n tokens."""

    layers: tuple[compute.LayerHeads, ...]
    numbers: Sequence[int]
    size: int
    masks: tuple[Tensor | None, ...]
    n: int

    @lazy
    def sources(self) -> tuple[int, ...]:
        """The layer that each layer reads."""
        return grouped_sources(len(self.layers), self.size)

    @lazy
    def last_sources(self) -> tuple[int, ...]:
        """The layer that each layer would read if the last ``size`` shared, all of one kind."""
        return kv_sources([""] * len(self.layers), self.size - 1)

    @lazy
    def first(self) -> dict[str, list[Tensor]]:
        """Queries, keys and values of each layer in float64, for the first n tokens."""
        return {name: [vars(layer)[name][:, : self.n].double() for layer in self.layers] for name in "qkv"}

    def options(self, layer: int, *, n: int | None = None) -> dict[str, Any]:
        """Return a layer's options in float64, for the first n tokens."""
        options = with_mask(self.layers[layer].options, self.masks[layer])
        return double(options if n is None else options_of_first(options, n))

    def attend(self, layer: int, sources: Sequence[int]) -> AttentionTrace:
        """Attend with a layer's queries to the keys and values of its source, for the first n tokens."""
        q, k, v = self.first.values()
        return attend_to_source(q, k, v, sources, layer, **self.options(layer, n=self.n))


def draw(context: ShareKvContext) -> list[Check]:
    """Draw who reads whom, the moved weight of each layer, and a head's map with both sets of keys."""
    t, choice = context.t, context.scene.choice
    layers = compute.layer_heads(choice.source, choice.mask, context.n_kv_heads)
    if len(layers) == 1 or len({(layer.k.shape, layer.v.shape) for layer in layers}) > 1:
        st.info(t(f"share_kv.across_layers.{'one' if len(layers) == 1 else 'unlike'}"))
        return []
    L, H = len(layers), len(layers[0].q)
    picture, finding = st.container(), st.container()
    left, middle, right = st.columns(3)
    with left:
        group_size = SIZE.slider(t("share_kv.across_layers.size"), L)
    with middle:
        numbers = layer_numbers(context, L)
        layer = numbers.index(READING_LAYER.slider(t("share_kv.across_layers.layer"), numbers))
    with right:
        head = choose_head(context, H)
    rules = [mask_by_rule(choice.mask, entry.q.shape[1], entry.k.shape[1]) for entry in layers]
    n = min(len(context.scene.labels), limits.SHARED_TOKENS)
    stack = SharedStack(layers=layers, numbers=numbers, size=group_size, masks=tuple(rules), n=n)
    variation, of_last = (
        compute.variation_by_layer(choice.source, choice.mask, context.n_kv_heads, sources)
        for sources in (stack.sources, stack.last_sources)
    )
    with picture:
        _show_stack(context, stack, variation, of_last)
        _show_maps(context, stack, layer, head)
        say_cut(context)
    with finding:
        _say(context, stack, variation)
    draw_groups(context)
    st.caption(t("share_kv.across_layers.untrained"))
    say_whose_numbers(context, are_paired=group_size == 1)
    _say_users(context, stack, of_last)
    return _checks(context, stack, (variation, of_last), (layer, head))


def layer_numbers(context: ShareKvContext, n_layers: int) -> Sequence[int]:
    """Return the numbers of the layers, a model's own; a range where they are counted without a gap."""
    numbers = [context.scene.capture.number(i) if context.is_model else i for i in range(n_layers)]
    return range(n_layers) if numbers == list(range(n_layers)) else numbers


def _show_stack(context: ShareKvContext, stack: SharedStack, variation: Tensor, of_last: Tensor) -> None:
    t, L = context.t, len(stack.layers)
    reads = torch.zeros(L, L)
    reads[range(L), stack.sources] = 1
    names = [str(number) for number in stack.numbers]
    matrix = Matrix(
        values=reads.masked_fill(reads == 0, -torch.inf),
        rows=Axis(names, t("share_kv.across_layers.rows")),
        columns=Axis(names, t("share_kv.across_layers.columns")),
        kind="weights",
        hover=t("share_kv.across_layers.cell"),
        low=L > 12,
        scale=False,
    )
    chart = BarChart(
        names,
        {t("share_kv.across_layers.groups"): variation.mean(-1), t("share_kv.across_layers.last"): of_last.mean(-1)},
        title=t("share_kv.across_layers.rows"),
        value_title=t("share_kv.far"),
        top=1.0,
        height=260,
    )
    left, right = st.columns([2, 3], gap="medium")
    with left:
        show_matrix(t, matrix, key="layer_reads", alt=t("share_kv.across_layers.alt", g=stack.size))
    with right:
        show_bars(chart, key="layer_moved", alt=t("share_kv.across_layers.bars"))


def _show_maps(context: ShareKvContext, stack: SharedStack, layer: int, head: int) -> None:
    t, source = context.t, stack.sources[layer]
    maps = [stack.attend(layer, sources).weights[head] for sources in (range(len(stack.layers)), stack.sources)]
    asks = stack.numbers[layer]
    titles = [
        t("share_kv.across_layers.map", head=head, layer=asks, source=stack.numbers[read]) for read in (layer, source)
    ]
    map_pair(t, titles, torch.stack(maps).float(), context.scene.labels[: stack.n], key="layer_maps")


def costs(context: ShareKvContext, stack: SharedStack) -> list[LayerCost]:
    """Return the cost of each layer: those that read another's keys and values keep none."""
    full = FullCost(spec=context.spec)
    return [full if source == layer else SharedKVCost(layer=full) for layer, source in enumerate(stack.sources)]


def _say(context: ShareKvContext, stack: SharedStack, variation: Tensor) -> None:
    t, L, n = context.t, len(stack.layers), len(context.scene.labels)
    layers = costs(context, stack)
    n_sets = len(set(stack.sources))
    sizes = {"kept": size(cache_bytes(layers, n_tokens=n)), "all": size(cache_bytes([layers[0]] * L, n_tokens=n))}
    if n_sets == L:
        say(t("share_kv.across_layers.same", L=L, all=sizes["all"]))
        return
    readers = [layer for layer, source in enumerate(stack.sources) if source != layer]
    far = part(float(variation[readers].mean()))
    say(t("share_kv.across_layers.says", g=stack.size, sets=n_sets, L=L, others=L - n_sets, far=far, **sizes))


def _say_users(context: ShareKvContext, stack: SharedStack, of_last: Tensor) -> None:
    model = next(model for model in models() if "shared" in model.sizes["layers"])
    (near, full), n, L = model.sizes["shared"], model.sizes["layers"]["shared"], len(model.layers)
    users = {"model": model.name, "n": n, "L": L, "near": near, "full": full}
    far = part(float(of_last.sum() / max(1, of_last[stack.last_sources[-1] + 1 :].numel())))
    st.caption(
        context.t("share_kv.across_layers.users", g=stack.size, sets=stack.last_sources[-1] + 1, far=far, **users)
    )


def source_by_hand(layer: int, size: int) -> int:
    """Return the first layer of a layer's group, counted up layer by layer."""
    first = 0
    while first + size <= layer:
        first += size
    return first


def _checks(
    context: ShareKvContext, stack: SharedStack, variations: tuple[Tensor, Tensor], selection: tuple[int, int]
) -> list[Check]:
    (layer, head), (q, k, v) = selection, stack.first.values()
    differences: dict[int, list[Tensor]] = {1: [], stack.size: []}
    for size_of_group, errors in differences.items():
        sources = grouped_sources(len(q), size_of_group)
        for i in range(len(q)):
            source = source_by_hand(i, size_of_group)
            expected = sdpa_heads(q[i], k[source], v[source], **stack.options(i, n=stack.n))
            errors.append(stack.attend(i, sources).output - expected)
    return [
        check("share_kv.across_layers.check_standard", _largest(differences[1]), 1e-6),
        check("share_kv.across_layers.check_shared", _largest(differences[stack.size]), 1e-6, g=stack.size),
        _cache_check(context, stack),
        _moved_check(stack, variations, layer, head),
    ]


def _largest(differences: list[Tensor]) -> float:
    # NaN stays NaN.
    return float(torch.stack(differences).abs().max())


def _cache_check(context: ShareKvContext, stack: SharedStack) -> Check:
    """Check the bytes against those of the tensors that some layer reads."""
    by_formula = cache_bytes(costs(context, stack), n_tokens=len(context.scene.labels))
    read = {source_by_hand(layer, stack.size) for layer in range(len(stack.layers))}
    tensors = [tensor for layer in read for tensor in (stack.layers[layer].k, stack.layers[layer].v)]
    n_bytes = sum(torch.empty_like(tensor, dtype=torch.float16, device="meta").nbytes for tensor in tensors)
    return check("share_kv.across_layers.check_cache", abs(by_formula - n_bytes), 0, n=f"{n_bytes:,}")


def _moved_check(stack: SharedStack, variations: tuple[Tensor, Tensor], layer: int, head: int) -> Check:
    """Check the moved weight of a head, in groups and in the last layer, by torch's own attention on the whole text."""
    L, errors = len(stack.layers), []
    pairs = (layer, source_by_hand(layer, stack.size)), (L - 1, L - stack.size)
    for (reader, source), variation in zip(pairs, variations, strict=True):
        q, options = stack.layers[reader].q.double(), stack.options(reader)
        keys = [stack.layers[i].k.double() for i in (reader, source)]
        standard, shared = (sdpa_weights(q, k, **options)[head] for k in keys)
        errors.append(abs(float((standard - shared).abs().sum(-1).mean()) / 2 - float(variation[reader, head])))
    return check("share_kv.across_layers.check_moved", worst(errors), 1e-4, layer=stack.numbers[layer], head=head)
