"""A layer's weights in memory held to its file: a random block of each tensor, and what the file says beside them."""

from collections.abc import Iterator

import numpy as np
import torch

from viz.core.analysis.checks import random_place
from viz.models.layout import LoadedModel
from viz.models.recount.packed_files import BLOCK, WORDS, WeightFile, open_weights, release

Pair = tuple[np.ndarray, np.ndarray]
"""Numbers of a file, and those in memory."""


def weight_file(model: LoadedModel) -> WeightFile | None:
    """Open the one file that a model's weights come from; None if there are several, or it is gone."""
    file = model.entry.packaged_file()
    if file is None and (folder := model.entry.local_folder()) is not None:
        file = folder / "model.safetensors"
    try:
        return None if file is None else open_weights(file)
    except OSError:
        return None


def file_error(model: LoadedModel, layer: int, token: int, *of: object) -> float | None:
    """Return how far a layer's weights are from its file, as a share of a block's largest; None without a file.

    Compared are a random block of 32 numbers in each tensor of the layer, one of the vector of a token, the token's
    writing, and the numbers that norms and RoPE are made with. A wrong word counts as 1.
    """
    if (file := weight_file(model)) is None:
        return None
    pairs, errors = list(_of_blocks(model, file, layer, of)), list(_of_settings(model, file, layer))
    if (token_text := file.token(token)) is not None:
        errors.append(float(model.tokenizer.convert_ids_to_tokens(token) != token_text))
        pairs += _of_token(model, file, token, of)
    errors += [float(np.abs(b - a).max()) / max(float(np.abs(a).max()), 1e-12) for a, b in pairs]
    release(file)
    return max(errors, default=None)


def _of_blocks(model: LoadedModel, file: WeightFile, layer: int, of: tuple[object, ...]) -> Iterator[Pair]:
    name = model.layers[layer].block_path
    for inside, weight in model.model.base_model.get_submodule(name).named_parameters():
        # A stack of experts has three axes, a lone number none.
        matrix = weight.reshape(-1, weight.shape[-1] if weight.ndim else 1)
        blocks_in_row = -(-matrix.shape[1] // BLOCK)
        row, block = divmod(random_place(len(matrix) * blocks_in_row, of, inside), blocks_in_row)
        at = BLOCK * block
        expected = file.read(f"{name}.{inside}", row, at)
        if expected is not None:
            yield expected, matrix[row, at : at + len(expected)].double().numpy()


def _of_token(model: LoadedModel, file: WeightFile, token: int, of: tuple[object, ...]) -> Iterator[Pair]:
    with torch.inference_mode():
        vector = model.model.get_input_embeddings()(torch.tensor([token]))[0].double().numpy()
    at = BLOCK * random_place(len(vector) // BLOCK, of, "vector")
    expected = file.read(WORDS, token, at)
    if expected is not None:
        yield expected, vector[at : at + BLOCK]


def _of_settings(model: LoadedModel, file: WeightFile, layer: int) -> Iterator[float]:
    """The epsilon of every norm of the layer, and the speeds of RoPE."""
    settings, base = file.settings(), model.model.base_model
    if "epsilon" in settings:
        for module in base.get_submodule(model.layers[layer].block_path).modules():
            epsilon = getattr(module, "variance_epsilon", None) or (
                module.eps if isinstance(module, torch.nn.LayerNorm) else None
            )
            if epsilon is not None:
                yield abs(epsilon / settings["epsilon"] - 1)
    if "rope_base" in settings:
        speeds = base.rotary_emb.inv_freq.double().numpy()
        expected = settings["rope_base"] ** -(np.arange(len(speeds)) / len(speeds))
        yield float(np.abs(speeds / expected - 1).max())
