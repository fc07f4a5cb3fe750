"""Run a model of transformers on a text, and take away what its heads looked at; the model is left as it was."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from viz.errors import ModelError
from viz.models.layout import family_without_attention
from viz.notebook.device import device_of
from viz.notebook.eager import evaluating, keeping_weights
from viz.notebook.forms.structure import stacks_in
from viz.notebook.inputs import ReadText, read_input
from viz.notebook.layer_numbers import noting_makers, numbers_of, rounds_of
from viz.notebook.longest import longest_text
from viz.notebook.maps import Labels
from viz.notebook.on_demand import LayerOnDemand, is_large, numbers_on_demand, run_keeping, text_config
from viz.notebook.trust import NO_WEIGHT, Products, difference_noted, has_sinks, output_of

MAX_GENERATED = 48
"""Tokens that an encoder-decoder writes at most where no target is given."""

FEW = 8
"""First tokens of a long text, whose maps are made to see whether they are all that a model multiplies values by."""

Note = tuple[str, Mapping[str, Any]]
"""A note below the picture: the name of a sentence, and the values of its placeholders."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The attentions of every stack of a model on a text, the numbers of their layers, and the tokens along them.

    ``changes`` are notes on maps that are not all that the values are multiplied by. ``tokens`` has the encoder's, or
    a model's of one text, then the decoder's; ``inputs`` is what the model was given of ``texts``.
    """

    stacks: Mapping[str, Sequence[Any]]
    numbers: Mapping[str, Sequence[int]]
    tokens: list[Labels]
    notes: list[Note]
    changes: list[Note]
    has_sinks: bool
    inputs: Mapping[str, Tensor]
    texts: Sequence[ReadText]


def read(model: Any, tokenizer: Any, text: Any, target: str | None) -> Reading:
    """Run a model on a text, and check that the maps it gives are of what it computes.

    Raises:
        ValueError: a sentence, where it gives no weights, or others than it uses.
    """
    two = reads_two(model)
    if target is not None and not two:
        raise ValueError("This model has no decoder beside its encoder, so it can read no target.")
    encoder, decoder = (_half(model, name) if two else model for name in ("encoder", "decoder"))
    source = read_input(encoder, tokenizer, text)
    device = device_of(model)
    inputs = {name: value.to(device) for name, value in source.inputs.items() if _reads(model, name)}
    parts = [source]
    with evaluating(model):
        if two:
            decoder_text = _decoder_text(
                model, decoder, tokenizer, inputs, _labels_in(text) if target is None else target
            )
            inputs["decoder_input_ids"] = decoder_text.ids.to(device)
            parts.append(decoder_text)
        last = parts[-1].token_places
        result, stacks, makers, plain, changes = _run(model, inputs, last)
        changes += difference_noted(model, plain, output_of(result), last)
        del result
        if source.is_pair and not two:
            _check_pair(model, stacks, last)
    for layers in stacks.values():
        if n := rounds_of(layers, makers):
            changes.append(("rounds", {"n": n, "total": len(layers)}))
    stacks = {name: _without_padding(name, layers, parts) for name, layers in stacks.items()}
    for name, layers in stacks.items():
        _check_places(model, name, layers, parts)
    notes: list[Note] = [
        (name if part is source else f"{name}_target", values) for part in parts for name, values in part.notes
    ]
    return Reading(
        stacks=stacks,
        numbers={name: _numbers(layers, makers, model) for name, layers in stacks.items()},
        tokens=[Labels(part.labels[i] for i in part.token_places) for part in parts],
        notes=notes,
        changes=changes,
        has_sinks=has_sinks(model),
        inputs=inputs,
        texts=parts,
    )


def read_again(model: Any, reading: Reading) -> dict[str, Any]:
    """Return the maps that a model has now of what it read before, by stack; they are not checked again."""
    with evaluating(model), keeping_weights(model):
        stacks = _stacks(model, model(**reading.inputs, output_attentions=True, return_dict=True))
    return {name: _without_padding(name, layers, reading.texts) for name, layers in stacks.items()}


def _check_pair(model: Any, stacks: Mapping[str, Any], token_places: list[int]) -> None:
    """Refuse two texts for a model that looks back only: it would read the second as what follows the first.

    Raises:
        ValueError: with the lines that show one, or both in a row.
    """
    maps = [layer for layer in stacks.get("self", ()) if layer is not None and layer.shape[-1] == layer.shape[-2]]
    if maps and not max(_above_diagonal(layer, token_places) for layer in maps) > NO_WEIGHT:
        raise ValueError(
            f"These are 2 texts, and {type(model).__name__} looks back only, so it reads no pairs. Show one, "
            "viz.show(model, tokenizer, texts[0]), or the second as it follows the first, "
            "viz.show(model, tokenizer, tokenizer(*texts))."
        )


def _reads(model: Any, name: str) -> bool:
    """Return whether a model reads an input; a tokenizer may give the segments of a pair to one that has none."""
    parameters = inspect.signature(model.forward).parameters
    return name != "token_type_ids" or name in parameters or "input_ids" not in parameters


def reads_two(model: Any) -> bool:
    """Return whether a model reads a text and a target: the encoder or the decoder of one has its configuration."""
    parameters = inspect.signature(model.forward).parameters
    # Compiled models name neither.
    has_target = "decoder_input_ids" in parameters or "input_ids" not in parameters
    return has_target and bool(getattr(model.config, "is_encoder_decoder", False))


def _half(model: Any, name: str) -> Any:
    """The encoder or the decoder of a model; the model itself where it names neither."""
    return getattr(model, f"get_{name}", lambda: model)()


def _above_diagonal(layer: Tensor | LayerOnDemand, token_places: list[int]) -> float:
    """The largest weight of a layer on a later token, padding left out."""
    if isinstance(layer, LayerOnDemand):
        return layer.survey.above
    return float(layer.flatten(0, -3).amax(0)[token_places][:, token_places].triu(1).max())


def _run(
    model: Any, inputs: dict[str, Tensor], token_places: list[int]
) -> tuple[Any, dict[str, Any], dict[int, str], Tensor, list[Note]]:
    """Return what the model gives with its maps, these by stack, who made them, its output without them, and notes.

    Where the maps are large, queries and keys are kept in their place (:mod:`viz.notebook.on_demand`).

    Raises:
        ValueError: if the model cannot read this, with what it said.
    """
    try:
        plain = output_of(model(**inputs, output_hidden_states=True, return_dict=True))
        ids = inputs.get("input_ids")
        if ids is not None and is_large(model, ids.shape[1]):
            rows = token_places if len(token_places) < ids.shape[1] else None
            if (on_demand_pass := run_keeping(model, inputs, rows)) is not None:
                result, layers = on_demand_pass
                is_text = all(value.shape == ids.shape for value in inputs.values())
                first_tokens = {name: value[:, :FEW] for name, value in inputs.items()}
                return result, {"self": layers}, {}, plain, _with_maps(model, first_tokens)[-1] if is_text else []
        result, stacks, makers, notes = _with_maps(model, inputs)
    except (IndexError, RuntimeError, TypeError, KeyError, AttributeError, AssertionError) as error:
        size = " and ".join(f"{name} {' × '.join(map(str, value.shape))}" for name, value in inputs.items())
        first = (str(error).splitlines() or [""])[0][:160]
        raise ValueError(
            f"{type(model).__name__} could not read this ({type(error).__name__}: {first}). It was given {size}."
        ) from error
    return result, stacks, makers, plain, notes


def _with_maps(model: Any, inputs: dict[str, Tensor]) -> tuple[Any, dict[str, Any], dict[int, str], list[Note]]:
    """Run a model with eager attention; return what it gives, its maps by stack, who made them, and notes on them."""
    with keeping_weights(model), noting_makers(model) as makers, Products() as products:
        result = model(**inputs, output_attentions=True, output_hidden_states=True, return_dict=True)
    stacks, kinds = _stacks(model, result), getattr(text_config(model), "layer_types", None) or ()
    # MiniMax hands out the states of its linear layers among its maps.
    if 0 < len(kinds) == len(maps := stacks.get("self", ())):
        stacks["self"] = [None if kinds[i] == "linear_attention" else layer for i, layer in enumerate(maps)]
    # Few-bit weights are multiplied by functions of their own library.
    return result, stacks, makers, [] if hasattr(model, "hf_quantizer") else products.notes_on(stacks)


def _stacks(model: Any, result: Any) -> dict[str, Any]:
    """The attentions in a model's output.

    Raises:
        ValueError: if there are none, though they were asked for.
    """
    try:
        return stacks_in(result)
    except ValueError:
        name, family = type(model).__name__, str(getattr(model.config, "model_type", ""))
        if kind := family_without_attention(family):
            raise ModelError(f"family_{kind}", model=name, family=family) from None
        raise ValueError(
            f"{name} was asked for its attentions, with eager attention, and gave none: it keeps no weights."
        ) from None


def _along(name: str, parts: Sequence[ReadText]) -> tuple[ReadText, ReadText]:
    """The texts along the rows and along the columns of a stack."""
    return parts[-1 if name in ("decoder", "cross") else 0], parts[-1 if name == "decoder" else 0]


def _check_places(model: Any, name: str, layers: Sequence[Any], parts: Sequence[ReadText]) -> None:
    """Refuse maps with other places than the tokens.

    Raises:
        ValueError: with both sizes.
    """
    texts = _along(name, parts)
    size = [len(text.token_places) for text in texts]
    wrong_size = next(
        (shape for layer in layers if layer is not None and (shape := list(layer.shape[-2:])) != size), None
    )
    if wrong_size is not None:
        raise ValueError(
            f"{type(model).__name__} gave {name} maps of {wrong_size[0]} × {wrong_size[1]}, and its texts have "
            f"{size[0]} and {size[1]} tokens: it looks at places that are no tokens, or not at all tokens one by one. "
            "Run it yourself and hand over its attentions and a name for each place, viz.show(attentions, (row_names, "
            "column_names))."
        )


def _without_padding(name: str, layers: Any, parts: Sequence[ReadText]) -> Any:
    """The maps without the rows and columns of padding."""
    rows, columns = _along(name, parts)
    if all(len(part.token_places) == part.ids.shape[1] for part in (rows, columns)):
        return layers
    if all(isinstance(layer, LayerOnDemand) for layer in layers):
        return layers
    of_text = [rows.ids.shape[1], columns.ids.shape[1]]
    fits = all(layer is None or list(layer.shape[-2:]) == of_text for layer in layers)
    return (
        [None if layer is None else layer[..., rows.token_places, :][..., columns.token_places] for layer in layers]
        if fits
        else layers
    )


def _numbers(layers: Any, makers: dict[int, str], model: Any) -> list[int]:
    if all(isinstance(layer, LayerOnDemand) for layer in layers):
        return numbers_on_demand(layers)
    return numbers_of(layers, makers, text_config(model))


def _decoder_text(model: Any, decoder: Any, tokenizer: Any, inputs: dict[str, Any], target: Any) -> ReadText:
    """Return what a decoder reads: what is given beside the text, the target one place later, or what it writes."""
    ids_beside = inputs.pop("decoder_input_ids", None)
    start = getattr(model.config, "decoder_start_token_id", None) or 0
    if target is not None:
        target_text = read_input(decoder, tokenizer, target, is_target=True)
        ids = torch.cat([torch.tensor([[start]]), target_text.ids[:, :-1].cpu()], 1)
        shifted = read_input(decoder, tokenizer, {"input_ids": ids})
        shifted.notes.extend(target_text.notes)
        return shifted
    if ids_beside is None and not hasattr(model, "generate"):
        raise ValueError("This model has an encoder and a decoder: say target=..., what the decoder is to read.")
    if ids_beside is None:
        ids_beside = _generate_ids(model, inputs, longest_text(decoder, start, MAX_GENERATED + 1))
    return read_input(decoder, tokenizer, {"input_ids": ids_beside.cpu()})


def _labels_in(text: Any) -> dict[str, Tensor] | None:
    """The labels beside the ids of a text, as a training has them: what the decoder is to write, negative ones none."""
    if not isinstance(text, Mapping) or text.get("labels") is None:
        return None
    labels = torch.as_tensor(text["labels"]).flatten()
    return {"input_ids": labels[labels >= 0]}


def _generate_ids(model: Any, inputs: dict[str, Any], room: int) -> Tensor:
    """Return what the model reads while it writes, as long as it can."""
    options = {"max_new_tokens": max(2, min(MAX_GENERATED, room - 1)), "do_sample": False, "num_beams": 1}
    try:
        ids: Tensor = model.generate(**inputs, **options)
    # transformers 5.23 makes T5's cache by the encoder's layers, and the decoder may have more.
    except IndexError:
        ids = model.generate(**inputs, **options, use_cache=False)
    return ids[:, :-1]
