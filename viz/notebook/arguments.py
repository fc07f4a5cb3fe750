"""Checks of the arguments of ``viz.show``: a model that reads text, and its tokenizer."""

import inspect
from typing import Any

from torch import nn

AROUND = (nn.DataParallel, nn.parallel.DistributedDataParallel)
"""Modules that run the model they hold."""


def open_model(model: Any) -> Any:
    """Return the model of transformers that reads token ids, out of a module that runs it on several devices.

    Raises:
        ValueError: a sentence, if it is another module, or reads no text.
    """
    while isinstance(model, AROUND):
        model = model.module
    name = type(model).__name__
    if not hasattr(model, "config"):
        raise ValueError(
            f"{name} is no model of transformers, so it is not known how to run it on a text: run it yourself and "
            "hand over its weights and their tokens, viz.show(attentions, tokens)."
        )
    reads = str(getattr(model, "main_input_name", "input_ids"))
    if reads != "input_ids" and "input_ids" not in inspect.signature(model.forward).parameters:
        raise ValueError(
            f"{name} reads {reads}, and no text: run it yourself with output_attentions=True and hand over its "
            "attentions and a name for each place, viz.show(attentions, names)."
        )
    return model


def check_tokenizer(tokenizer: Any) -> None:
    """Refuse what cannot cut a text.

    Raises:
        ValueError: a sentence on what stands in the tokenizer's place.
    """
    if isinstance(tokenizer, nn.Module) or not (callable(tokenizer) or hasattr(tokenizer, "encode")):
        raise ValueError(
            f"{type(tokenizer).__name__} stands in the tokenizer's place and cannot cut a text: "
            "viz.show(model, tokenizer, text)."
        )


def check_numbers(layers: Any) -> None:
    """Refuse numbers of layers that are no numbers, or that two layers have.

    Raises:
        ValueError: a sentence that names them.
    """
    if layers is None:
        return
    if len(set(layers)) < len(layers) or any(not isinstance(number, int) or number < 0 for number in layers):
        raise ValueError(f"layers={list(layers)} are not the numbers of different layers, counted from 0.")
