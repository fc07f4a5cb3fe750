"""The longest text that a model reads, measured on the tables that it asks for places."""

from typing import Any

import torch
from torch import nn
from torch.nn.functional import embedding
from torch.overrides import TorchFunctionMode

from viz.notebook.device import device_of
from viz.notebook.eager import evaluating
from viz.notebook.on_demand import text_config

UNLIMITED = 10**9
"""No limit."""
TRIED = 3
"""Tokens that a model reads to see which tables it asks for places."""
BEFORE = 128
"""Rows that no place of the text has, at most: RoBERTa's two, and the tokens that a tuned prompt puts before it."""
REFUSALS = (IndexError, RuntimeError, TypeError, ValueError, KeyError, AttributeError, AssertionError)
"""Errors of a model that cannot read what it is given."""


class _Tables(TorchFunctionMode):
    """Measure the room of every table that is read at one row after the other, from the first such row on."""

    def __init__(self) -> None:
        super().__init__()
        self.rooms: list[int] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is embedding:
            places, rows = args[0].flatten().tolist(), len(args[1])
            if places == list(range(places[0], places[0] + len(places))):
                self.rooms.append(rows - places[-1] - 1 + TRIED)
        return func(*args, **(kwargs or {}))


def longest_text(model: Any, token: int, total: int) -> int:
    """Measure how many tokens a model reads: a table with a row for each place, or a buffer, ends, and it refuses more.

    The model reads one token a few times, so tables of pictures, of sound and of another stack are not asked. The
    number in the configuration is no limit by itself: of rotary positions a model reads more than it names.

    Args:
        model: what reads the ids: of an encoder and a decoder one.
        token: any that is no padding.
        total: tokens of the text; for a short one nothing is run.
    """
    n_places = max(0, getattr(text_config(model), "max_position_embeddings", None) or 0) or UNLIMITED
    sizes = [n_places, *(module.num_embeddings for module in model.modules() if isinstance(module, nn.Embedding))]
    if min(sizes) > total + BEFORE:
        return UNLIMITED
    with _Tables() as tables:
        _reads(model, token, TRIED)
    buffers = [b for b in model.buffers() if b.is_floating_point() and b.dim() > 1 and n_places in b.shape]
    room = min(tables.rooms + [n_places for _ in buffers[:1]], default=UNLIMITED)
    # An accelerator does not survive a row that is missing.
    is_tried = room < total and device_of(model).type == "cpu"
    return UNLIMITED if is_tried and _reads(model, token, room + 1) else room


def _reads(model: Any, token: int, n: int) -> bool:
    """Return whether a model reads a token n times."""
    ids = torch.full((1, n), token, device=device_of(model))
    try:
        with evaluating(model):
            model(input_ids=ids)
    except REFUSALS:
        return False
    return True
