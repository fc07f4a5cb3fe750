"""Checks of the arguments of ``viz.show``: a model that reads text, and its tokenizer."""

import inspect
import os
import re
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from pathlib import Path
from typing import Any

from torch import nn

MOST_INSIDE = 3
"""Models in a module that a sentence names."""

CUTTING = ("convert_ids_to_tokens", "id_to_token", "id_to_piece", "decode_single_token_bytes")
"""Methods that tokenizers have, of whatever library."""

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
    name = type(model).__name__
    if not hasattr(model, "config") or not (hasattr(model, "main_input_name") or _reads_ids(model)):
        raise ValueError(
            f"{name} is no model of transformers, so it is not known how to run it on a text{_models_inside(model)}: "
            "run it yourself and hand over its weights and their tokens, viz.show(attentions, tokens)."
        )
    reads = str(getattr(model, "main_input_name", "input_ids"))
    if reads != "input_ids" and "input_ids" not in inspect.signature(model.forward).parameters:
        raise ValueError(
            f"{name} reads {reads}, and no text: run it yourself with output_attentions=True and hand over its "
            "attentions and a name for each place, viz.show(attentions, names)."
        )
    return model


def _reads_ids(model: Any) -> bool:
    return "input_ids" in inspect.signature(model.forward).parameters


def _models_inside(module: Any) -> str:
    """The models of transformers in a module, with the line that shows the first, in a sentence; "" if none is."""
    paths: list[str] = []
    for path, part in module.named_modules():
        is_model = hasattr(part, "config") and hasattr(part, "main_input_name")
        if is_model and not any(path.startswith(f"{outer}.") for outer in paths):
            paths.append(path)
    if not paths:
        return ""
    names = [re.sub(r"\.(\d+)", r"[\1]", f".{path}") for path in paths[:MOST_INSIDE]]
    kinds = ", ".join(
        f"{type(module.get_submodule(path)).__name__} (model{name})" for path, name in zip(paths, names, strict=False)
    )
    return f". It holds {kinds}: viz.show(model{names[0]}, tokenizer, text) shows that. For the whole"


def check_tokenizer(tokenizer: Any) -> None:
    """Refuse what cannot cut a text.

    Raises:
        ValueError: a sentence on what stands in the tokenizer's place.
    """
    is_other = isinstance(tokenizer, nn.Module | str | bytes)
    if is_other or not (callable(tokenizer) or hasattr(tokenizer, "encode")):
        raise ValueError(
            f"{type(tokenizer).__name__} stands in the tokenizer's place and cannot cut a text: "
            "viz.show(model, tokenizer, text)."
        )


def open_tokenizer(tokenizer: Any) -> Any:
    """Return the tokenizer of a processor, which reads pictures or sound too; another as it is."""
    inner = getattr(tokenizer, "tokenizer", None)
    return inner if callable(inner) and hasattr(inner, "convert_ids_to_tokens") else tokenizer


def check_text(model: Any, tokens: Any, text: Any) -> None:
    """Refuse a model without a text, a tokenizer without one, and what is no model in the place of one.

    Raises:
        ValueError: a sentence on what is missing.
    """
    name = type(model).__name__
    if isinstance(model, nn.Module) and text is None:
        raise ValueError(f"{name} has no text to read: viz.show(model, tokenizer, text).")
    if text is None and any(hasattr(tokens, method) for method in CUTTING):
        raise ValueError(
            f"{type(tokens).__name__} has no text to cut: viz.show(attentions, tokenizer, text), or the tokens that it "
            "makes of the text, viz.show(attentions, tokens)."
        )
    if text is not None and isinstance(getattr(model, "model", None), nn.Module) and not isinstance(model, nn.Module):
        raise ValueError(f"{name} holds a model: viz.show(pipeline.model, pipeline.tokenizer, text).")
    if text is not None and _stands_for_model(model):
        what = f"The class {model.__name__}" if isinstance(model, type) else name
        raise ValueError(
            f"{what} stands in the model's place and is no model of PyTorch: load it, "
            "viz.show(AutoModel.from_pretrained(...), tokenizer, text), or run it where it runs and hand over its "
            "weights and their tokens, viz.show(attentions, tokens)."
        )


def _stands_for_model(value: Any) -> bool:
    """Return whether a value is a model's name, path, class or configuration, or a model of another library."""
    if isinstance(value, str | os.PathLike | type):
        return True
    if isinstance(value, nn.Module) or any(hasattr(value, name) for name in ("shape", "attentions", *CUTTING)):
        return False
    return hasattr(value, "model_type") or (callable(value) and not isinstance(value, Iterable))


def layer_numbers(layers: Any) -> list[int] | None:
    """Return the numbers of layers as Python has them; None if there are none.

    Raises:
        ValueError: a sentence that names them, if they are no numbers, or two layers have one.
    """
    if layers is None:
        return None
    number_list = layers.tolist() if hasattr(layers, "tolist") else layers
    if isinstance(number_list, str) or not isinstance(number_list, Iterable):
        raise ValueError(f"layers={layers} are not the numbers of different layers, counted from 0.")
    number_list = [number.item() if hasattr(number, "item") else number for number in number_list]
    if len(set(number_list)) < len(number_list) or any(type(number) is not int or number < 0 for number in number_list):
        raise ValueError(f"layers={number_list} are not the numbers of different layers, counted from 0.")
    return number_list


def check_choice(choice: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse a choice that the grid has not.

    Raises:
        ValueError: naming those it has.
    """
    if unknown := next((name for name in choice if name not in names), None):
        raise ValueError(f"There is no choice {unknown}=: there are {', '.join(names)}.")


def in_a_list(parts: Any) -> Any:
    """Return what can only be iterated as a list; all else as it is."""
    is_view = isinstance(parts, Iterator | KeysView | ValuesView)
    return list(parts) if is_view else parts


def open_encoding(text: Any) -> Any:
    """Return the ids, the padding mask and the segments in an encoding of ``tokenizers``; all else as it is."""
    if not isinstance(getattr(text, "ids", None), list):
        return text
    encoding = {"input_ids": [text.ids], "attention_mask": [text.attention_mask]}
    return encoding | ({"token_type_ids": [text.type_ids]} if any(text.type_ids) else {})


def name_of(model: Any) -> str:
    """Published name of a model; of one from a folder the folder's name, since a path is private."""
    model = uncompiled(model)
    base = model.get_base_model() if hasattr(model, "get_base_model") else model  # PEFT's has a model inside
    name = str(getattr(model.config, "name_or_path", "")) or type(base).__name__
    return Path(name).name if Path(name).is_absolute() or name.startswith(".") else name


def adapters_of(model: Any) -> list[str]:
    """Return the names of the adapters that take part in a model; PEFT's layers name theirs, and its prompts do not."""
    model = uncompiled(model)
    layers = [layer for layer in model.modules() if hasattr(layer, "disable_adapters")]
    active = [layer.active_adapters for layer in layers if not layer.disable_adapters]
    if not layers and hasattr(model, "get_base_model"):
        active = [[getattr(model, "active_adapter", "")]]
    return list(dict.fromkeys(str(name) for names in active for name in names if name))
