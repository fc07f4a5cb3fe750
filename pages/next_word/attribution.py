"""Attribution of a word's logit, or a difference of two, as a sum over every head and feed-forward part."""

from functools import partial

import streamlit as st
import torch

from pages.next_word import compute
from pages.next_word.compute_checks import logits_at
from pages.next_word.compute_part_checks import feed_forward_part, head_part, random_part
from pages.next_word.context import NextWordContext, for_decoders, model_checks
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.analysis.attribution import Attribution
from viz.frame.checks import Check, check
from viz.frame.examples import go_to_head
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.shared import MODEL, TEXT
from viz.frame.show import show_bars, show_matrix
from viz.frame.sidebar import file_of
from viz.params import Int
from viz.text import join_names
from viz.text.naming import name_token

MAP, MOST = "next_parts", 14
"""The map's key on the page, and the number of largest parts in the bars."""
Part = tuple[str, int, int, float]


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """Draw a map of layers by heads with the feed-forward networks, and the largest parts."""
    against = -1 if context.against is None else context.against.token
    attribution = compute.parts(context.source, context.at, context.word.token, against)
    sorted_parts = sorted(attribution.parts(), key=lambda part: -abs(part[3]))
    selection = NEXT_LAYER.read(attribution), NEXT_HEAD.read(attribution)
    matrix = _map(context, attribution, selection)
    _say(context, attribution, sorted_parts)
    _open(context, attribution, selection)
    _largest(context, sorted_parts)
    context.say_cap()
    context.say_sink()
    return [_sum_check(context, attribution), *_part_checks(context, matrix), *model_checks(context)]


def name_of(context: NextWordContext, part: Part) -> str:
    """Return the short name of a part: "23·3" is layer 23, head 3."""
    kind, layer, head, _ = part
    return f"{layer}·{head}" if kind == "head" else context.t(f"next_word.part_{kind}", layer=layer)


def _say(context: NextWordContext, attribution: Attribution, sorted_parts: list[Part]) -> None:
    t = context.t
    st.text(
        t(
            "next_word.logit_is",
            what=context.asked,
            token=name_token(context.labels, context.at),
            total=number(attribution.total),
        )
    )
    heads = [part for part in sorted_parts if part[0] == "head"][:3]
    head_names = [t("next_word.head_says", layer=layer, head=head, n=number(n)) for _, layer, head, n in heads]
    sums = {
        "heads": number(float(attribution.heads.sum() + attribution.biases.sum())),
        "feed_forward": number(float(attribution.feed_forward.sum())),
        "embedding": number(attribution.embedding),
    }
    say(t("next_word.parts_found", listed=join_names(t, head_names), **sums))


def _most(attribution: Attribution) -> tuple[int, int]:
    """Return the layer and the head with the largest contribution."""
    return divmod(int(attribution.heads.abs().argmax()), attribution.heads.shape[1])


NEXT_LAYER = Int("next_layer", lambda found: _most(found)[0], high=lambda found: len(found.heads) - 1)
NEXT_HEAD = Int("next_head", lambda found: _most(found)[1], high=lambda found: found.heads.shape[1] - 1)
"""The framed head of the map."""


def _map(context: NextWordContext, attribution: Attribution, selection: tuple[int, int]) -> Matrix:
    t, (n_layers, n_heads) = context.t, attribution.heads.shape
    values = torch.cat([attribution.heads, attribution.feed_forward[:, None]], dim=1)
    ff = t("next_word.ff")
    columns = Axis([*map(str, range(n_heads)), ff], t("next_word.heads_and_ff"))
    hover = [
        [
            t(
                "next_word.hover_ff" if column == n_heads else "next_word.hover_head",
                layer=row,
                head=column,
                n=number(v, 4),
            )
            for column, v in enumerate(line)
        ]
        for row, line in enumerate(values.tolist())
    ]
    matrix = Matrix(
        values=values,
        rows=numbered(n_layers, t("next_word.layer")),
        columns=columns,
        kind="signed",
        hover=hover,
        framed=selection,
        low=n_layers > 12,
    )
    show_matrix(t, matrix, key=MAP, alt=t("next_word.parts_alt"), on_choose=partial(choose_head, n_heads))
    st.caption(t("next_word.parts_click"))
    return matrix


def choose_head(n_heads: int, layer: int, head: int) -> None:
    """Select the clicked head; clicks on a feed-forward network are ignored."""
    if head < n_heads:
        NEXT_LAYER.choose(layer)
        NEXT_HEAD.choose(head)


def _open(context: NextWordContext, attribution: Attribution, selection: tuple[int, int]) -> None:
    """Draw the selected head's contribution, and a link to its map on the page of heads."""
    t, (layer, head) = context.t, selection
    value = number(float(attribution.heads[layer, head]))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        say(t("next_word.head_adds", layer=layer, head=head, n=value))
        label = t("next_word.open_heads", layer=layer, head=head)
        if st.button(
            label, key="open_heads", on_click=go_to_head, args=(context.source.model, context.source.text, selection)
        ):
            # The defaults of this page are choices for that one.
            for parameter in (MODEL, TEXT):
                parameter.omit_from_link("")
            st.switch_page(file_of("heads"))


def _largest(context: NextWordContext, sorted_parts: list[Part]) -> None:
    largest = sorted_parts[:MOST]
    chart = BarChart(
        [name_of(context, part) for part in largest],
        {context.asked: torch.tensor([part[3] for part in largest])},
        title=context.t("next_word.parts_largest"),
        value_title=context.t("next_word.adds"),
    )
    show_bars(chart, key="next_largest", alt=context.t("next_word.largest_alt"))


def _sum_check(context: NextWordContext, attribution: Attribution) -> Check:
    """Check the sum of all parts against the logits of an uninstrumented pass."""
    logits = logits_at(context.source, context.at, context.tokens_compared)
    total = logits[0] - sum(logits[1:])
    tolerance = 1e-4 * max(1.0, *map(abs, logits))
    return check("next_word.check_sum", abs(total - attribution.total), tolerance, n=number(attribution.total))


def _part_checks(context: NextWordContext, matrix: Matrix) -> list[Check]:
    """Check a random head and a random feed-forward network of the map by the model's own layer."""
    n_layers, n_heads = matrix.values.shape[0], matrix.values.shape[1] - 1
    layer, head, network_layer = random_part(context.source, context.at, n_layers, n_heads)
    arguments = context.source, context.at, context.tokens_compared
    alone, network = head_part(*arguments, layer, head), feed_forward_part(*arguments, network_layer)
    if alone is None or network is None:
        return []
    added, tolerance = network
    values, size = matrix.values, max(1.0, float(matrix.values.abs().max()))
    return [
        check("next_word.check_head", abs(float(values[layer, head]) - alone), 1e-4 * size, layer=layer, head=head),
        check(
            "next_word.check_ff", abs(float(values[network_layer, -1]) - added), tolerance * size, layer=network_layer
        ),
    ]
