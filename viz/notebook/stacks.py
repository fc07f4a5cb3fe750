"""Maps and the tokens along them as a stack for the browser: all of it at once, or small maps first."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from viz.components.head_grid import Axis
from viz.components.take_away import Heads, PooledStack, Stack
from viz.core.analysis.head_statistics import cross_head_statistics, head_statistics
from viz.notebook.maps import Maps, is_special_token, labels, token_words


def stack_of(name: str, maps: Maps, queries: Sequence[Any], keys: Sequence[Any], *, nobody: str, same: bool) -> Stack:
    """Make a stack ready for the browser.

    Args:
        name: of the stack.
        maps: its maps.
        queries: the tokens along the rows.
        keys: the tokens along the columns.
        nobody: the name of the column with what rows give to no token, where there is such a thing.
        same: whether the rows' text is the columns'.
    """
    n_heads, n_queries, n_keys = maps.shape
    rows, columns = labels(queries, n_queries, name), labels(keys, n_keys, name)
    special = torch.tensor([is_special_token(token) for token in token_words(keys)])
    numbers = {word: i for i, word in enumerate(dict.fromkeys((*rows, *columns)))}
    row_ids, column_ids = (torch.tensor([numbers[word] for word in words]) for words in (rows, columns))
    mask = maps.masked
    if maps.nobody:
        columns = (*columns, nobody)
        mask = None if mask is None else torch.cat([mask, mask.all(1, keepdim=True)], 1)

    if maps.small:
        layers = tuple(maps.layers)

        def open_head(place: int, head: int) -> Heads:
            return Heads(weights=maps.head_with_rest(layers[place], head)[None], measures={}, masked=mask)

        return PooledStack(
            name=name, layers=(), n_layers=len(maps.layers), queries=_axis(rows), keys=_axis(columns),
            same=same and not maps.nobody, numbers=layers, pool=maps.pool, n_heads=n_heads,
            small=[with_column(maps, i) for i in layers],
            measures=[_quick_measures(maps.measures[i], same=same) for i in layers],
            open=open_head, open_layer=lambda place: maps.layer_with_rest(layers[place]),
        )  # fmt: skip

    def describe_layer(i: int) -> Heads:
        layer = maps.layers[i]
        measures = (
            head_statistics(layer, column_ids, special)
            if same
            else cross_head_statistics(layer, row_ids, column_ids, special)
        )
        weights = torch.cat([layer, maps.nobody[i][..., None]], -1) if maps.nobody else layer
        return Heads(weights=weights, measures=vars(measures), masked=mask)

    return Stack(
        name=name, layers=[describe_layer(i) for i in maps.layers], n_layers=len(maps.layers), queries=_axis(rows),
        keys=_axis(columns), same=same and not maps.nobody, numbers=tuple(maps.layers),
    )  # fmt: skip


def with_column(maps: Maps, number: int) -> Tensor:
    """Return a layer's small maps, with what goes to no token in a column behind the last key."""
    small, pool = maps.small[number], maps.pool
    if not maps.nobody:
        return small
    rest = maps.nobody[number]
    column = pad(rest, (0, -rest.shape[1] % pool)).unflatten(1, (-1, pool)).amax(-1)[..., None]
    if maps.shape[2] % pool == 0:
        return torch.cat([small, column], -1)
    return torch.cat([small[..., :-1], torch.maximum(small[..., -1:], column)], -1)


def _quick_measures(measures: Mapping[str, Tensor], *, same: bool) -> dict[str, Tensor]:
    """Return the measures of a survey; those of every cell take longer than all the rest."""
    if not same:
        return {"first": measures["first"]}
    return {"previous": measures["previous"], "next": measures["next"], "first": measures["first_of_others"]}


def _axis(words: tuple[str, ...]) -> Axis:
    return Axis(of=range(len(words)), labels=words)
