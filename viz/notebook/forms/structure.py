"""The forms in which attentions are handed over: a model's output, layers, steps of ``generate()``, three stacks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viz.notebook.forms.arrays import as_layers
from viz.notebook.forms.generated import are_steps, join_rows, join_steps, shape_of

STACKS = ("encoder", "decoder", "cross")
FIELDS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
MOST_LAYERS = 1000
NUMBER = re.compile(r"\d+")
OF_MAPS = re.compile(r"hook_pattern|weights?$|prob|atten|attn", re.I)
"""Parts of the names that TransformerLens, Flax and Keras give to maps."""
IN_LAYER = re.compile(r"(?:layers?|blocks?|h|resblocks?)[._/]?$|^$", re.I)
"""Words before a number that count the layers of a model; other numbers may count all that a session made."""


@dataclass(frozen=True, kw_only=True)
class NamedStacks:
    """Attentions by the name of their stack, and whether ``generate()`` kept them.

    Then the last token was written, and no layer has read it. ``first_axis`` is the size of one array of which the
    first axis was taken to count layers.
    """

    stacks: Mapping[str, Any]
    is_generated: bool = False
    first_axis: tuple[int, ...] | None = None


def by_name(attentions: Any) -> NamedStacks:
    """Name the stacks of what was handed over.

    Raises:
        ValueError: a sentence, if it has none of the structures that are read.
    """
    if any(_field(attentions, field) is not None for field in ("attentions", *FIELDS.values())):
        return _joined(stacks_in(attentions))
    if hasattr(attentions, "to_tuple") or any(hasattr(attentions, field) for field in ("attentions", *FIELDS.values())):
        return NamedStacks(stacks=stacks_in(attentions))
    # A cache of TransformerLens has items, and is no mapping; a table of pandas has both items and a shape.
    if hasattr(attentions, "items") and not hasattr(attentions, "shape"):
        return NamedStacks(stacks=_of_names(dict(_leaves(attentions, ()))))
    layers = as_layers(attentions)
    parts = layers if isinstance(layers, tuple | list) else []
    if any(isinstance(part, tuple | list) for part in parts):
        return _joined({"self": parts} if are_steps(parts) else _three_stacks(parts))
    if len(parts) == 3 and all(part is None for part in parts):
        raise ValueError("All three of (encoder, decoder, cross) are None: there is nothing to show.")
    shape = () if isinstance(attentions, tuple | list) else tuple(getattr(attentions, "shape", ()))
    is_ambiguous = len(shape) == 4 and shape[0] > 1
    return NamedStacks(stacks={"self": layers}, first_axis=shape if is_ambiguous else None)


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


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values of nested mappings by their paths; a sequence of one, as Flax keeps it, is what it holds."""
    is_mapping = hasattr(value, "items") and not hasattr(value, "shape")
    if is_mapping or (isinstance(value, tuple | list) and len(value) > 1 and not isinstance(value[0], int | float)):
        for name, part in value.items() if is_mapping else enumerate(value):
            yield from _leaves(part, (*path, str(name)))
    elif isinstance(value, tuple | list) and len(value) == 1:
        yield from _leaves(value[0], path)
    else:
        yield path, value


def _of_names(leaves: Mapping[tuple[str, ...], Any]) -> dict[str, list[Any]]:
    """The stacks in values under names, as TransformerLens, Flax, Keras and hooks give them.

    Names that differ in one number, or in several that rise together, are the layers of a stack, and a name without
    it, where others have one behind it, is the first. A number behind layer, block or h, or alone, is the layer's;
    others may have been counted over several models, and say the order alone. Of several stacks the names say
    encoder, decoder or cross; maps whose names say attention, weights, probabilities or hook_pattern are taken from
    among others.

    Raises:
        ValueError: a sentence with two of the names, if this gives no stacks.
    """
    names = {"/".join(path): value for path, value in leaves.items() if len(getattr(value, "shape", ())) in (2, 3, 4)}
    hooks = {name: value for name, value in names.items() if name.endswith("hook_pattern")}
    maps = hooks or {name: value for name, value in names.items() if OF_MAPS.search(name)} or names
    groups: dict[str, dict[tuple[int, ...], Any]] = {}
    for name, value in maps.items():
        # Keras has no number for the first of its layers.
        key = re.sub(r"_#(?=/|$)", "", NUMBER.sub("#", name))
        groups.setdefault(key, {})[tuple(map(int, NUMBER.findall(name)))] = value
    stacks = {_stack_name(key) if len(groups) > 1 else "self": _in_order(key, group) for key, group in groups.items()}
    is_known = len(stacks) == len(groups) and stacks.keys() <= {"self", *STACKS} and all(stacks.values())
    if not stacks or not is_known or not _fit(stacks):
        few = ", ".join(list(names or map("/".join, leaves))[:2])
        raise ValueError(
            f"{len(leaves)} names ({few} …) and what belongs to them are neither a model's output nor a cache of "
            "TransformerLens, of Flax or Keras with one number for the layer: hand over a tuple of the layers' "
            "weights, and layers= their numbers if they do not count from 0."
        )
    return stacks


def _stack_name(key: str) -> str:
    is_cross = re.search(r"cross|encdec|encoder_decoder|encoder_attn", key, re.I)
    return "cross" if is_cross else next((name for name in ("encoder", "decoder") if name in key.lower()), key)


def _in_order(key: str, group: Mapping[tuple[int, ...], Any]) -> list[Any]:
    """The layers of a stack by the number in which their names differ; none if that is not one."""
    width = max(map(len, group))
    numbers = {(*(0,) * (width - len(place)), *place): value for place, value in group.items()}
    columns = [column for i in range(width) if len(set(column := [place[i] for place in sorted(numbers)])) > 1]
    # Keras counts blocks and the layers in them at once.
    if len(numbers) < len(group) or any(column != sorted(set(column)) for column in columns):
        return []
    varying = next((i for i in range(width) if len({place[i] for place in numbers}) > 1), 0)
    by_number = {place[varying] if width else 0: value for place, value in sorted(numbers.items())}
    before = NUMBER.split(key.replace("#", "0"))
    is_layer = varying < len(before) - 1 and IN_LAYER.search(
        before[varying].rpartition("/")[2].rpartition(".")[2] or ""
    )
    if not is_layer or max(by_number) > MOST_LAYERS:
        return list(by_number.values())
    return [by_number.get(number) for number in range(max(by_number) + 1)]


def _joined(stacks: Mapping[str, Any]) -> NamedStacks:
    """Stacks of which some may have come as the steps of ``generate()``."""
    in_steps = {name for name, parts in stacks.items() if any(isinstance(part, tuple | list) for part in parts)}
    for name in sorted(in_steps):
        _check_not_empty(stacks[name], f"The {name} attentions")
        if name != "cross" and not are_steps(stacks[name]):
            raise ValueError(f"The {name} attentions are {_sizes(stacks[name])}: these are no steps of one text.")
    joined_stacks = {
        name: (join_rows if name == "cross" else join_steps)(parts) if name in in_steps else parts
        for name, parts in stacks.items()
    }
    return NamedStacks(stacks=joined_stacks, is_generated=bool(in_steps))


def _three_stacks(parts: Sequence[Any]) -> dict[str, Any]:
    """(encoder, decoder, cross), of which some may be None."""
    stacks = dict(zip(STACKS, parts, strict=False)) if len(parts) <= 3 else {}
    stacks = {name: part for name, part in stacks.items() if part is not None}
    are_whole = not any(isinstance(layer, tuple | list) for part in stacks.values() for layer in part)
    if not stacks or (are_whole and not _fit(stacks)):
        _check_not_empty(list(stacks.values()) or parts, "These attentions")
        raise ValueError(
            f"These attentions are {_sizes(parts)}. What is read are the weights of each layer, (1, heads, queries, "
            "keys); all that a model or generate() gave with output_attentions=True and return_dict=True; or (encoder, "
            "decoder, cross), whose cross maps have the decoder's rows and the encoder's columns."
        )
    return stacks


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


def _sizes(parts: Any) -> str:
    """The structure of nested tuples, measured: how many, and the sizes of their first maps."""
    sizes = [" × ".join(map(str, size)) if (size := shape_of(part)) else "none" for part in parts]
    size_list = ", ".join(sizes[:4]) + (", …" if len(sizes) > 4 else "")
    return f"{len(sizes)} parts, with maps of {size_list}"
