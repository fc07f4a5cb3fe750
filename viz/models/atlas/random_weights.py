"""A model that has learned nothing: the same architecture and word vectors, every other number drawn anew."""

from copy import deepcopy
from dataclasses import replace

import torch

from viz.models.layers.find import find_layers
from viz.models.layout import LoadedModel

SEEDS = (0, 1, 2, 3, 4)
"""Of the models whose heads say how far chance alone may bring a score: five, since one may happen to stay low."""


def random_weights(model: LoadedModel, seed: int = SEEDS[0]) -> LoadedModel:
    """The model with every weight drawn from a normal distribution of the mean and spread that its own tensor has.

    So heads are as sharp as chance makes them at the model's own scale; with the small weights that training starts
    from, all of them would spread evenly. The word vectors are the model's own, and are shared, not copied.
    """
    words = model.model.get_input_embeddings()
    shared = {id(module): module for module in (words, *words.parameters())}
    copied = deepcopy(model.model, dict(shared))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in copied.parameters():
            if id(parameter) not in shared and parameter.numel() > 1:
                parameter.normal_(float(parameter.mean()), float(parameter.std()), generator=generator)
    return replace(model, model=copied, layers=tuple(find_layers(copied)))
