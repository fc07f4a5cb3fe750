"""The forms in which attentions are handed over, told apart by their structure: names, nesting and shapes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.notebook.forms.arrays import as_layers, inner, plain_tensor
from viz.notebook.forms.generated import are_rows, are_steps, join_rows, join_steps, shape_of
from viz.notebook.forms.returned import heads_together, maps_of_output, weights_of_modules

STACKS = ("encoder", "decoder", "cross")
MOST_NAMES = 4
"""Names of a mapping that a sentence has."""
DIGITS = 4
"""Of the number of a layer; what has more is a date or a place in memory."""
FIELDS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}


@dataclass(frozen=True, kw_only=True)
class NamedStacks:
    """Attentions by the name of their stack, and whether ``generate()`` kept them.

    Then the last token was written, and no layer has read it. ``first_axis`` is the size of one array of which the
    first axis was taken to count layers.
    """

    stacks: Mapping[str, Any]
    is_generated: bool = False
    first_axis: tuple[int, ...] | None = None


def by_name(attentions: Any, *, has_two_texts: bool = False) -> NamedStacks:
    """Name the stacks of what was handed over: a model's output, a mapping, layers, steps, or three stacks.

    Args:
        attentions: in any form.
        has_two_texts: whether there are tokens of two texts beside them.

    Raises:
        ValueError: a sentence, if it has none of these structures.
    """
    if any(_field(attentions, field) is not None for field in ("attentions", *FIELDS.values())):
        return _of_output(attentions)
    if isinstance(attentions, Mapping) and not hasattr(attentions, "to_tuple"):
        return _of_mapping(attentions)
    if isinstance(attentions, Mapping) or any(hasattr(attentions, field) for field in ("attentions", *FIELDS.values())):
        return NamedStacks(stacks=stacks_in(attentions))
    if hasattr(attentions, "items") and not hasattr(attentions, "shape"):  # TransformerLens' cache is no mapping
        return _of_mapping(dict(attentions.items()))
    if (
        isinstance(attentions, tuple | list)
        and attentions
        and all(_field(part, "attentions") is not None for part in attentions)
    ):
        attentions = [_field(part, "attentions") for part in attentions]  # what a model gave at each step
    arrays = as_layers(attentions)
    if not isinstance(arrays, tuple | list) or not any(isinstance(part, tuple | list) for part in arrays):
        if isinstance(arrays, tuple | list) and len(arrays) == 3 and all(part is None for part in arrays):
            raise ValueError("All three of (encoder, decoder, cross) are None: there is nothing to show.")
        weights = weights_of_modules([arrays])
        return NamedStacks(stacks={"self": weights or arrays}, first_axis=_first_axis(attentions))
    return _of_parts(arrays, has_two_texts=has_two_texts)


def _first_axis(attentions: Any) -> tuple[int, ...] | None:
    """The size of one array (n, H, Q, K), of which the first axis may count layers or texts."""
    shape = () if isinstance(attentions, tuple | list) else tuple(getattr(plain_tensor(attentions), "shape", ()))
    return shape if len(shape) == 4 and shape[0] > 1 else None


def stacks_in(output: Any) -> dict[str, Any]:
    """Return the attentions in what a model gave, by the names of their stacks.

    Raises:
        ValueError: if there are none.
    """
    stacks = {
        name: layers
        for name, field in FIELDS.items()
        if (layers := as_layers(_field(output, field))) is not None and len(layers)
    }
    alone = as_layers(_field(output, "attentions"))
    if alone is not None and len(alone) and not stacks.keys() & {"encoder", "decoder"}:
        stacks = {"decoder": alone, **stacks} if stacks else {"self": alone}
    if not stacks:
        raise ValueError(
            "The model gave no attentions. It gives them when it is called with output_attentions=True, if it computes "
            'them (from_pretrained(..., attn_implementation="eager")).'
        )
    return stacks


def _field(output: Any, name: str) -> Any:
    """A field of a model's output, or of a mapping with the same names."""
    return output.get(name) if isinstance(output, Mapping) else getattr(output, name, None)


def _of_output(output: Any) -> NamedStacks:
    stacks, is_generated = dict[str, Any](), False
    for name, parts in stacks_in(output).items():
        if any(isinstance(part, tuple | list) for part in parts):
            _check_not_empty(parts, f"The {name} attentions")
            if name != "cross" and not are_steps(parts):
                raise ValueError(
                    f"The {name} attentions are {_describe_structure(parts)}: these are no steps of one text."
                )
            stacks[name], is_generated = (join_rows if name == "cross" else join_steps)(parts), True
        else:
            stacks[name] = parts
    return NamedStacks(stacks=stacks, is_generated=is_generated)


def _of_mapping(mapping: Mapping[Any, Any]) -> NamedStacks:
    """Stacks by name, or layers by number: in mappings of mappings too, as Flax keeps them.

    Of a TransformerLens cache the patterns are the layers. Keras gives the first of equal names no number.
    """
    if mapping and all(name in (*STACKS, "self") for name in mapping):
        parts = {name: by_name(part) for name, part in mapping.items() if part is not None}
        stacks = {name: next(iter(part.stacks.values())) for name, part in parts.items()}
        return NamedStacks(stacks=stacks, is_generated=any(part.is_generated for part in parts.values()))
    mapping = dict(_leaves(mapping))
    mapping = {name: part for name, part in mapping.items() if str(name).endswith("hook_pattern")} or mapping
    numbers = [_number_in(name) for name in mapping]
    if numbers.count(None) == 1 < len(numbers) and len({re.sub(r"_?\d+$", "", str(name)) for name in mapping}) == 1:
        numbers = [number or (0 if 0 not in numbers else None) for number in numbers]
    if None not in numbers and 0 < len(set(numbers)) == len(numbers):
        layers = [inner(part) for part in mapping.values()]
        of_modules = weights_of_modules(layers) or layers
        by_number = dict(zip(numbers, of_modules, strict=True))
        return NamedStacks(
            stacks={"self": [by_number.get(i) for i in range(max(filter(None, numbers), default=0) + 1)]}
        )
    names = ", ".join(repr(name) for name in list(mapping)[:MOST_NAMES]) or "nothing"
    more = f" and {len(mapping) - MOST_NAMES} others" if len(mapping) > MOST_NAMES else ""
    raise ValueError(
        f"The mapping holds {names}{more}: name the stacks {', '.join(STACKS)}, or hand over one array for each layer, "
        "with the layer's number in its name."
    )


def _leaves(mapping: Mapping[Any, Any], path: str = "") -> Iterator[tuple[Any, Any]]:
    """Yield what mappings of mappings hold, by the names on its path; the only part of a tuple in one for itself."""
    for name, part in mapping.items():
        if isinstance(part, Mapping):
            yield from _leaves(part, f"{path}{name}.")
        elif path:
            yield f"{path}{name}", part[0] if isinstance(part, tuple | list) and len(part) == 1 else part
        else:
            yield name, part


def _number_in(name: Any) -> int | None:
    """The only number in a name, as the path of a layer's module has it; None if there is none, or another."""
    digits = re.findall(r"\d+", str(name)) if isinstance(name, str | int | np.integer) else []
    return int(digits[0]) if len(digits) == 1 and len(digits[0]) <= DIGITS and not str(name).startswith("-") else None


def _of_parts(parts: Any, *, has_two_texts: bool) -> NamedStacks:
    """Outputs of modules or of a model, heads one by one, steps of ``generate()``, or (encoder, decoder, cross)."""
    if (layers := weights_of_modules(parts) or maps_of_output(parts)) is not None:
        return NamedStacks(stacks={"self": layers})
    if not has_two_texts and (layers := heads_together(parts)) is not None:
        return NamedStacks(stacks={"self": layers})
    if are_rows(parts):  # the tokens along it are those of the rows, and of the columns
        return NamedStacks(stacks={"self": join_rows(parts)}, is_generated=True)
    if are_steps(parts):
        return NamedStacks(stacks={"self": join_steps(parts)}, is_generated=True)
    parts_by_name = dict(zip(STACKS, parts, strict=False)) if len(parts) <= 3 else {}
    stacks = {name: part for name, part in parts_by_name.items() if part is not None}
    is_generated = False
    for name, part in stacks.items():
        if isinstance(part, tuple | list) and any(isinstance(step, tuple | list) for step in part):
            stacks[name], is_generated = (join_rows if name == "cross" else join_steps)(part), True
    if not stacks or not _fit(stacks):
        _check_not_empty(list(stacks.values()) or parts, "These attentions")
        raise ValueError(
            f"These attentions are {_describe_structure(parts)}. Tuples of layers are the steps of generate(), each "
            "with the rows that follow the last ones, or (encoder, decoder, cross), whose cross maps have the "
            "decoder's rows and the encoder's columns."
        )
    return NamedStacks(stacks=stacks, is_generated=is_generated)


def _fit(stacks: Mapping[str, Any]) -> bool:
    """Return whether the maps of an encoder, a decoder and what is between them have each other's sizes."""
    sizes = {name: shape_of(part) for name, part in stacks.items()}
    if None in sizes.values():
        return False
    encoder, decoder, cross = (sizes.get(name) for name in STACKS)
    squares = all(size is None or size[0] == size[1] for size in (encoder, decoder))
    rows = cross is None or decoder is None or cross[0] == decoder[0]
    return squares and rows and (cross is None or encoder is None or cross[1] == encoder[1])


def _check_not_empty(parts: Sequence[Any], name: str) -> None:
    """Refuse tuples of layers without a single map: attention that keeps none leaves them behind.

    Raises:
        ValueError: saying how a model keeps its maps.
    """
    if all(shape_of(part) is None for part in parts):
        raise ValueError(
            f"{name} are {len(parts)} tuples of layers without a single map: no weights were kept. Models keep them if "
            'they are loaded with attn_implementation="eager" and called with output_attentions=True.'
        )


def _describe_structure(parts: Any) -> str:
    """The structure of nested tuples, measured: how many, and the sizes of their first maps."""
    sizes = [" × ".join(map(str, size)) if (size := shape_of(part)) else "none" for part in parts]
    size_list = ", ".join(sizes[:4]) + (", …" if len(sizes) > 4 else "")
    return f"{len(sizes)} tuples of layers, with maps of {size_list}"
