"""Checks of the arguments of ``viz.show``: a model of transformers that reads text, and its tokenizer."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

AROUND = (nn.DataParallel, nn.parallel.DistributedDataParallel)
"""Modules that run the model they hold."""


def uncompiled(model: Any) -> Any:
    """Return the model inside a compiled one, or the model itself."""
    return getattr(model, "_orig_mod", model)


def open_model(model: Any) -> Any:
    """Return the model of transformers that reads token ids, out of a module that runs it on several devices.

    Raises:
        ValueError: a sentence, if it is another module, or reads no text.
    """
    while isinstance(parallel := uncompiled(model), AROUND):
        model = parallel.module
    # A compiled or a wrapped model may name no parameters, and still says what it reads first.
    reads_ids = getattr(model, "main_input_name", None) == "input_ids"
    reads_ids = reads_ids or "input_ids" in inspect.signature(model.forward).parameters
    if not hasattr(model, "config") or not reads_ids:
        raise ValueError(
            f"{type(model).__name__} is no model of transformers that reads token ids, so it is not known how to run "
            "it on a text. Hand over the model of transformers inside it, viz.show(model, tokenizer, text), or run it "
            "yourself and hand over its weights and a name for each place, viz.show(attentions, names)."
        )
    return model


def check_tokenizer(tokenizer: Any) -> None:
    """Refuse what is no tokenizer of transformers.

    Raises:
        ValueError: a sentence on what stands in the tokenizer's place.
    """
    if not (callable(tokenizer) and hasattr(tokenizer, "convert_ids_to_tokens")):
        raise ValueError(
            f"{type(tokenizer).__name__} stands in the tokenizer's place and is no tokenizer of transformers: "
            "viz.show(model, tokenizer, text). One of the library tokenizers becomes one by "
            "PreTrainedTokenizerFast(tokenizer_object=tokenizer); with another one run the model yourself and hand "
            "over its attentions and their tokens, viz.show(attentions, tokens)."
        )


def open_tokenizer(tokenizer: Any) -> Any:
    """Return the tokenizer of a processor, which reads pictures or sound too; another as it is."""
    inner = getattr(tokenizer, "tokenizer", None)
    return inner if callable(inner) and hasattr(inner, "convert_ids_to_tokens") else tokenizer


def check_text(model: Any, tokens: Any, text: Any) -> None:
    """Refuse a model or a tokenizer without a text, and what is no model beside one.

    Raises:
        ValueError: a sentence on what is missing.
    """
    name = type(model).__name__
    if isinstance(model, nn.Module) and text is None:
        raise ValueError(f"{name} has no text to read: viz.show(model, tokenizer, text).")
    if text is None and hasattr(tokens, "convert_ids_to_tokens"):
        raise ValueError(
            f"{type(tokens).__name__} has no text to cut: viz.show(attentions, tokenizer, text), or the tokens that it "
            "makes of the text, viz.show(attentions, tokens)."
        )
    if text is None or isinstance(model, nn.Module):
        return
    is_data = hasattr(model, "shape") or hasattr(model, "attentions") or not callable(model)
    if isinstance(model, str | Path) or not is_data:
        raise ValueError(
            f"{name} stands in the model's place and is no model of PyTorch: load it, "
            "viz.show(AutoModel.from_pretrained(...), tokenizer, text), or of a pipeline hand over pipeline.model."
        )


def layer_numbers(layers: Any) -> list[int] | None:
    """Return the numbers of layers as Python has them; None if there are none.

    Raises:
        ValueError: a sentence that names them, if they are no numbers, or two layers have one.
    """
    if layers is None:
        return None
    numbers = layers.tolist() if hasattr(layers, "tolist") else layers
    numbers = list(numbers) if isinstance(numbers, Iterable) else [None]
    if len(set(numbers)) < len(numbers) or any(type(number) is not int or number < 0 for number in numbers):
        raise ValueError(f"layers={layers} are not the numbers of different layers, counted from 0.")
    return numbers


def check_choice(choice: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse a choice that the grid has not.

    Raises:
        ValueError: naming those it has.
    """
    if unknown := next((name for name in choice if name not in names), None):
        raise ValueError(f"There is no choice {unknown}=: there are {', '.join(names)}.")


def name_of(model: Any) -> str:
    """Published name of a model; of one from a folder the folder's name, since a path is private."""
    model = uncompiled(model)
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    name = str(getattr(model.config, "name_or_path", "")) or type(base).__name__
    return Path(name).name if Path(name).is_absolute() or name.startswith(".") else name
