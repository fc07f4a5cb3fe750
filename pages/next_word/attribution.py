"""Who wrote a word: its logit, or its difference to another one, as a sum over every head and feed-forward part."""

from functools import partial, reduce

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
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.shared import HEAD, LAYER, MODEL, SOURCE, TEXT
from viz.frame.show import show_bars, show_matrix, show_table
from viz.frame.sidebar import file_of
from viz.params import Int

MAP, MOST = "next_parts", 14
"""The map's place on the page, and parts that are drawn as bars: the largest."""
Part = tuple[str, int, int, float]


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """A map of layers by heads, the feed-forward networks beside them; the largest parts; all of them in a list."""
    against = -1 if context.against is None else context.against.token
    found = compute.parts(context.source, context.at, context.word.token, against)
    ordered = sorted(found.parts(), key=lambda part: -abs(part[3]))
    chosen = NEXT_LAYER.read(found), NEXT_HEAD.read(found)
    drawn = _map(context, found, chosen)
    _say(context, found, ordered)
    _open(context, found, chosen)
    _largest(context, ordered)
    _list(context, found, ordered)
    context.say_cap()
    return [_sum_check(context, found), *_part_checks(context, drawn), *model_checks(context)]


def name_of(context: NextWordContext, part: Part) -> str:
    """What a part is called, short enough for a bar: "23·3" is layer 23, head 3."""
    kind, layer, head, _ = part
    return f"{layer}·{head}" if kind == "head" else context.t(f"next_word.part_{kind}", layer=layer)


def _say(context: NextWordContext, found: Attribution, ordered: list[Part]) -> None:
    t = context.t
    st.text(t("next_word.logit_is", what=context.asked, token=context.labels[context.at], total=number(found.total)))
    heads = [part for part in ordered if part[0] == "head"][:3]
    named = [t("next_word.head_says", layer=layer, head=head, n=number(n)) for _, layer, head, n in heads]
    sums = {
        "heads": number(float(found.heads.sum() + found.biases.sum())),
        "feed_forward": number(float(found.feed_forward.sum())),
        "embedding": number(found.embedding),
    }
    listed = reduce(lambda before, last: t("next_word.listed", before=before, last=last), named)
    say(t("next_word.parts_found", listed=listed, **sums))


def _most(found: Attribution) -> tuple[int, int]:
    """Return the layer and the head that add most."""
    return divmod(int(found.heads.abs().argmax()), found.heads.shape[1])


NEXT_LAYER = Int("next_layer", lambda found: _most(found)[0], high=lambda found: len(found.heads) - 1)
NEXT_HEAD = Int("next_head", lambda found: _most(found)[1], high=lambda found: found.heads.shape[1] - 1)
"""The head of the map that is framed."""


def _map(context: NextWordContext, found: Attribution, chosen: tuple[int, int]) -> Matrix:
    t, (n_layers, n_heads) = context.t, found.heads.shape
    values = torch.cat([found.heads, found.feed_forward[:, None]], dim=1)
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
    drawn = Matrix(
        values=values,
        rows=numbered(n_layers, t("next_word.layer")),
        columns=columns,
        kind="signed",
        hover=hover,
        framed=chosen,
        low=n_layers > 12,
    )
    show_matrix(t, drawn, key=MAP, alt=t("next_word.parts_alt"), on_choose=partial(choose_head, n_heads))
    st.caption(t("next_word.parts_click"))
    return drawn


def choose_head(n_heads: int, layer: int, head: int) -> None:
    """Take over the head that was clicked; a feed-forward network is none."""
    if head < n_heads:
        NEXT_LAYER.choose(layer)
        NEXT_HEAD.choose(head)


def _open(context: NextWordContext, found: Attribution, chosen: tuple[int, int]) -> None:
    """The chosen head's number, and the way to its map of weights on the page of heads."""
    t, (layer, head) = context.t, chosen
    value = number(float(found.heads[layer, head]))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        say(t("next_word.head_adds", layer=layer, head=head, n=value))
        label = t("next_word.open_heads", layer=layer, head=head)
        if st.button(label, key="open_heads", on_click=_go, args=(context.source.model, context.source.text, chosen)):
            for parameter in (MODEL, TEXT):  # defaults of this page, and chosen for that one
                parameter.leave_out("")
            st.switch_page(file_of("heads"))


def _go(name: str, text: str, head: tuple[int, int]) -> None:
    """What the page of heads opens with."""
    SOURCE.choose("model")
    MODEL.choose(name)
    TEXT.choose(text)
    LAYER.choose(head[0])
    HEAD.choose(head[1])


def _largest(context: NextWordContext, ordered: list[Part]) -> None:
    largest = ordered[:MOST]
    drawn = BarChart(
        [name_of(context, part) for part in largest],
        {context.asked: torch.tensor([part[3] for part in largest])},
        title=context.t("next_word.parts_largest"),
        value_title=context.t("next_word.adds"),
    )
    show_bars(drawn, key="next_largest", alt=context.t("next_word.largest_alt"))


def _list(context: NextWordContext, found: Attribution, ordered: list[Part]) -> None:
    """Every part, the largest first, and what the sum comes to so far."""
    t, total, rows = context.t, 0.0, []
    for part in ordered:
        total += part[3]
        rows.append(
            {
                t("next_word.part"): _in_words(context, part),
                t("next_word.adds"): number(part[3], 3),
                t("next_word.so_far"): number(total, 3),
            }
        )
    with st.expander(t("next_word.all_parts", n=len(rows))):
        show_table(rows)


def _in_words(context: NextWordContext, part: Part) -> str:
    kind, layer, head, _ = part
    return context.t(f"next_word.words_{kind}", layer=layer, head=head)


def _sum_check(context: NextWordContext, found: Attribution) -> Check:
    """All parts together, against the logits of a pass of its own in which nothing was recorded."""
    logits = logits_at(context.source, context.at, context.tokens_compared)
    total = logits[0] - sum(logits[1:])
    tolerance = 1e-4 * max(1.0, *map(abs, logits))
    return check("next_word.check_sum", abs(total - found.total), tolerance, n=number(found.total))


def _part_checks(context: NextWordContext, drawn: Matrix) -> list[Check]:
    """A random head and a random feed-forward network of the map, each from the model's own layer."""
    n_layers, n_heads = drawn.values.shape[0], drawn.values.shape[1] - 1
    layer, head, other = random_part(context.source, context.at, n_layers, n_heads)
    asked = context.source, context.at, context.tokens_compared
    alone, network = head_part(*asked, layer, head), feed_forward_part(*asked, other)
    if alone is None or network is None:
        return []
    added, tolerance = network
    values, size = drawn.values, max(1.0, float(drawn.values.abs().max()))
    return [
        check("next_word.check_head", abs(float(values[layer, head]) - alone), 1e-4 * size, layer=layer, head=head),
        check("next_word.check_ff", abs(float(values[other, -1]) - added), tolerance * size, layer=other),
    ]
