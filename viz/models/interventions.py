"""A decoder with some of its heads changed while it reads: silenced, at their mean, or swapped with another text's."""

from collections.abc import Iterable

import torch
from torch import Tensor

from viz.cancellation import check
from viz.models.attention_interface import Edit, recording
from viz.models.capture import Head
from viz.models.layout import LoadedModel
from viz.models.stream import Reading, blocks_of


def replaced(heads: list[int], values: Tensor, at: int | slice = slice(None)) -> Edit:
    """Give these heads other outputs, (T, heads, d_v), in every text of the batch; one row stands for every token.

    With one token ``at`` alone, values are (heads, d_v).
    """

    def edit(output: Tensor) -> Tensor:
        output = output.clone()
        output[:, at, heads] = values
        return output

    return edit


def by_layer(heads: Iterable[Head]) -> dict[int, list[int]]:
    """Heads in the order of their layers: the numbers in each."""
    heads_by_layer: dict[int, list[int]] = {}
    for layer, head in sorted(heads):
        heads_by_layer.setdefault(layer, []).append(head)
    return heads_by_layer


def without(reading: Reading, heads: Iterable[Head], *, mean: bool) -> dict[int, Edit]:
    """Switch heads off: what they hand to W_O becomes zero, or their own mean over the text.

    The mean is taken of the unchanged run, over all tokens.
    """
    edits = {}
    for layer, numbers in by_layer(heads).items():
        values = reading.heads[layer][:, numbers].mean(0, keepdim=True)
        edits[layer] = replaced(numbers, values if mean else torch.zeros_like(values))
    return edits


def one_in_each(values: Tensor) -> Edit:
    """In text b of the batch give head b another output, values[:, b], (T, d_v); its other heads stay."""

    def edit(output: Tensor) -> Tensor:
        output, each_head = output.clone(), torch.arange(output.shape[2])
        output[each_head, :, each_head] = values.transpose(0, 1)
        return output

    return edit


def patch_layer(model: LoadedModel, reading: Reading, source_reading: Reading, layer: int, at: int) -> Tensor:
    """Swap each head of a layer with another text's, one at a time: the last stream at one token, (H, d_model).

    What the head hands to W_O is replaced at every token (activation patching, one head at a time). The H runs are one
    batch, and only the blocks from this layer on are run: below it nothing changes. Both texts have as many tokens.
    """
    return patched_streams(model, reading, source_reading.heads[layer], layer)[:, at].clone()


def patched_streams(model: LoadedModel, reading: Reading, values: Tensor, layer: int) -> Tensor:
    """The last stream when a layer's heads write other ``values`` (T, H, d_v), one head at a time: (H, T, d_model)."""
    blocks, n_heads = blocks_of(model), reading.heads.shape[2]
    stream = reading.states[layer].expand(n_heads, -1, -1)
    edits = {id(model.layers[layer].attention): one_in_each(values)}
    with torch.inference_mode(), recording(edits):
        for block, (args, options) in zip(blocks[layer:], reading.calls[layer:], strict=True):
            check()
            output = block(stream, *args, **options)
            stream = output if isinstance(output, Tensor) else output[0]
    return stream
