"""The text that a model is to read: words, a pair, token ids, or what its tokenizer gave."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.models.checks import check_ids
from viz.models.tokens import labels
from viz.notebook.arguments import check_tokenizer
from viz.notebook.longest import UNLIMITED, longest_text

LARGEST_ID = 2**31
"""No table has as many rows, and fast tokenizers raise from twice as many on."""
Room = Callable[[int, int], int]
"""Measures the tokens that a model reads at most, by one that is no padding and by how many there are."""


@dataclass(frozen=True, kw_only=True)
class ReadText:
    """Inputs of a model, and the labels along its maps.

    ``token_places`` are the places of tokens that are no padding; ``total`` counts the tokens of the whole text, of
    which a model may read fewer.
    """

    inputs: dict[str, Tensor]
    labels: list[str]
    token_places: list[int]
    total: int
    is_pair: bool = False
    notes: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    @property
    def ids(self) -> Tensor:
        """(1, T)."""
        return self.inputs["input_ids"]


def read_input(model: Any, tokenizer: Any, text: Any, *, is_target: bool = False) -> ReadText:
    """Turn a text into what the model is called with.

    Args:
        model: a model of transformers.
        tokenizer: of transformers.
        text: a string, a pair of strings that the model reads together, token ids, or what the tokenizer gave.
        is_target: whether a decoder is to write it.

    Raises:
        ValueError: a sentence, if there is nothing to read, or what there is cannot be read.
    """
    check_tokenizer(tokenizer)
    rows = getattr(_table_of(model), "num_embeddings", LARGEST_ID)

    def room(token: int, total: int) -> int:
        check_ids(type(model).__name__, [token], rows)
        return longest_text(model, token, total)

    read = _of_any_form(tokenizer, text, room, is_target)
    if not read.token_places:
        raise ValueError("There is no token in this text.")
    check_ids(type(model).__name__, read.ids[0].tolist(), rows)
    if len(read.token_places) < read.ids.shape[1]:
        read.notes.append(("padding", {"n": read.ids.shape[1] - len(read.token_places)}))
    if read.total > read.ids.shape[1]:
        is_named = getattr(tokenizer, "model_max_length", None) == read.ids.shape[1]
        name = "cut_by_name" if is_named else "cut"
        read.notes.append((name, {"n": read.ids.shape[1], "total": read.total}))
    return read


def _table_of(model: Any) -> Any:
    """A model's table of words; None if it has none, or several."""
    try:
        return model.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        return None


def _of_any_form(tokenizer: Any, text: Any, room: Room, is_target: bool) -> ReadText:
    if isinstance(text, str):
        return _of_strings(tokenizer, (text,), room, is_target)
    if isinstance(text, tuple | list) and 1 <= len(text) <= 2 and all(isinstance(part, str) for part in text):
        return replace(_of_strings(tokenizer, tuple(text), room, is_target), is_pair=len(text) == 2)
    if isinstance(text, Mapping) and "input_ids" in text:
        return _of_encoding(tokenizer, text, room)
    is_ids = hasattr(text, "shape") or (isinstance(text, tuple | list) and not _holds(text, str | Mapping))
    if is_ids:
        return _of_encoding(tokenizer, {"input_ids": text}, room)
    raise ValueError(
        f"The text is a {type(text).__name__} and none of these: a string, two strings that the model reads as a pair, "
        "token ids, or what the tokenizer gave, with its input_ids. Of several texts hand over one, texts[0]; of a "
        "chat tokenizer.apply_chat_template(messages, tokenize=False)."
    )


def _holds(parts: Sequence[Any], kinds: Any) -> bool:
    return any(isinstance(part, kinds) or (isinstance(part, list) and _holds(part, kinds)) for part in parts)


def _of_encoding(tokenizer: Any, encoding: Mapping[str, Any], room: Room) -> ReadText:
    """Token ids and what stands beside them: a padding mask, the segments of a pair."""
    # transformers calls it ``past_key_values`` up to 5.23.
    if cache := {"cache", "past_key_values"} & encoding.keys():
        raise ValueError(
            f"There is {', '.join(cache)} beside the input_ids: that holds a part of the text that was read before. "
            "Hand over the ids of the whole text and no cache, so that every token has its row."
        )
    inputs = {name: _tensor(name, value) for name, value in encoding.items() if name != "labels"}
    ids = inputs["input_ids"]
    if not ids.numel():
        raise ValueError("There is no token in this text.")
    if ids.dim() != 2 or len(ids) != 1 or ids.is_floating_point() or ids.dtype == torch.bool or int(ids.min()) < 0:
        raise ValueError(
            f"The token ids are {' × '.join(map(str, ids.shape))} {ids.dtype}, the least {ids.min().item()}, and not "
            "(1, tokens) whole numbers from 0 on: hand over those of one text, ids[:1]."
        )
    total = ids.shape[1]
    mask = inputs.get("attention_mask")
    if mask is not None and (mask.shape != ids.shape or not bool(((mask == 0) | (mask == 1)).all())):
        raise ValueError(
            f"The attention_mask is {' × '.join(map(str, mask.shape))}: beside 1 × {total} token ids a mask of padding "
            "is read, 1 × as many, 1 for a token and 0 for padding. With a mask for pairs of tokens run the model "
            "yourself and hand over its attentions, viz.show(attentions, tokens)."
        )
    token_places = [i for i in range(total) if mask is None or bool(mask[0, i])]
    most = room(int(ids[0, token_places[0]]), total) if token_places else total
    extras = [name for name, value in inputs.items() if value.shape[1:] != (total,) and "decoder" not in name]
    if most < total and extras:
        raise ValueError(
            f"The model reads {most} tokens at once, and these are {total} beside {', '.join(extras)}, which does not "
            "fit a part of them: hand over a shorter text."
        )
    inputs = {name: value[:, :most] if value.shape[1:2] == (total,) else value for name, value in inputs.items()}
    return ReadText(
        inputs=inputs,
        labels=name_tokens(tokenizer, inputs["input_ids"][0].tolist()),
        token_places=[place for place in token_places if place < most],
        total=total,
    )


def _tensor(name: str, value: Any) -> Tensor:
    """Inputs of one text as a table of numbers; whole numbers in 64 bits, which every table is read by."""
    try:
        tensor = value if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value))
        is_whole = not tensor.is_floating_point() and tensor.dtype != torch.bool
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"The {name} are no table of numbers ({error}): hand over those of one text, [5, 7, 9]."
        ) from error
    tensor = tensor.long() if is_whole else tensor
    return tensor[None] if tensor.dim() == 1 else tensor


def _of_strings(tokenizer: Any, texts: tuple[str, ...], room: Room, is_target: bool) -> ReadText:
    """A text as its tokenizer cuts it, shortened by the tokenizer to what it and the model read at most.

    Raises:
        ValueError: a sentence, if there is no token of a text.
    """
    # Half a surrogate pair is no text.
    texts = tuple(text.encode("utf-8", "replace").decode() for text in texts)

    def encode(**options: Any) -> Any:
        options |= {"return_special_tokens_mask": True, "verbose": False}
        return tokenizer(text_target=texts[0], **options) if is_target else tokenizer(*texts, **options)

    encoding = encode()
    ids, added = encoding["input_ids"], encoding["special_tokens_mask"]
    if all(added):
        raise ValueError("There is no token in this text.")
    limit = getattr(tokenizer, "model_max_length", UNLIMITED)
    most = min(len(ids), int(limit)) if 0 < limit < UNLIMITED else len(ids)
    most = min(most, room(ids[added.index(0)], most))
    if most < len(ids):
        encoding = encode(truncation=True, max_length=most)
    inputs = {name: torch.tensor([value]) for name, value in encoding.items() if name != "special_tokens_mask"}
    n = inputs["input_ids"].shape[1]
    return ReadText(
        inputs=inputs,
        labels=name_tokens(tokenizer, encoding["input_ids"]),
        token_places=list(range(n)),
        total=len(ids),
    )


def name_tokens(tokenizer: Any, ids: list[int]) -> list[str]:
    """Return a label for each token, as the app writes it; a number that no vocabulary has is its label."""
    if all(0 <= i < LARGEST_ID for i in ids):
        return list(labels(tokenizer, ids))
    return [labels(tokenizer, [i])[0] if 0 <= i < LARGEST_ID else f"⟨{i}⟩" for i in ids]
