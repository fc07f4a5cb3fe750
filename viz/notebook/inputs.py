"""The text that a model is to read, in any form people have it: words, a pair, token ids, or a tokenizer's output."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.errors import ModelError
from viz.models.checks import check_ids
from viz.models.spelling.pieces import raw_parts, spell
from viz.models.tokens import labels
from viz.notebook.arguments import check_tokenizer, open_encoding
from viz.notebook.forms.arrays import plain_tensor
from viz.notebook.forms.encodings import encode, encode_whole, takes
from viz.notebook.forms.mask import as_added, check_mask
from viz.notebook.longest import UNLIMITED, longest_text

TO_TOKEN = ("id_to_token", "id_to_piece")
"""Names of the function from an id to its token in other tokenizers."""
LARGEST_ID = 2**31
"""No table has as many rows, and fast tokenizers raise from twice as many on."""
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
"""Types that torch cannot compare."""
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
        tokenizer: of transformers, of ``tokenizers``, or tiktoken's encoding.
        text: a string, a pair of strings that the model reads together, token ids, or what a tokenizer gave.
        is_target: whether a decoder is to write it.

    Raises:
        ValueError: a sentence, if there is nothing to read, or what there is cannot be read.
    """
    rows = getattr(_table_of(model), "num_embeddings", LARGEST_ID)

    def room(token: int, total: int) -> int:
        check_ids(name_of_type(model), [token], rows)
        return longest_text(model, token, total)

    read = _of_any_form(tokenizer, text, room, is_target)
    if not read.token_places:
        raise ModelError("empty")
    check_ids(name_of_type(model), read.ids[0].tolist(), rows)
    if (mask := read.inputs.get("attention_mask")) is not None and mask.dim() > 2:
        read.inputs["attention_mask"] = as_added(mask, getattr(model, "dtype", torch.float32))
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


def name_of_type(model: Any) -> str:
    """A model's class, for sentences."""
    return type(model).__name__


def _of_any_form(tokenizer: Any, text: Any, room: Room, is_target: bool) -> ReadText:
    text = plain_tensor(open_encoding(text))
    if getattr(getattr(text, "dtype", None), "kind", "") in "OUT" and hasattr(text, "tolist"):  # strings of numpy
        text = text.tolist()
    if isinstance(text, Mapping) and not _is_chat(text):
        return _of_encoding(tokenizer, text, room)
    if isinstance(text, str):
        return _of_strings(tokenizer, (text,), room, is_target)
    if isinstance(text, Sequence) and text and all(isinstance(part, str) for part in text):
        if len(text) > 2:
            raise ValueError(
                f"These are {len(text)} texts: a model is shown on one, viz.show(model, tokenizer, texts[0]), or on "
                "two that it reads as a pair."
            )
        return replace(_of_strings(tokenizer, tuple(text), room, is_target), is_pair=len(text) == 2)
    if isinstance(text, Sequence) and any(isinstance(part, Mapping) and "input_ids" in part for part in text):
        if len(text) > 1:
            raise ValueError(
                f"These are {len(text)} texts that a tokenizer cut: a model is shown on one, "
                "viz.show(model, tokenizer, encodings[0])."
            )
        return _of_encoding(tokenizer, text[0], room)
    if _is_chat(text):
        raise ValueError(
            "These are the messages of a chat, and no text: "
            "tokenizer.apply_chat_template(messages, tokenize=False) makes one of them."
        )
    if isinstance(text, Sequence) and text and isinstance(text[0], str):
        kinds = ", ".join(dict.fromkeys(type(part).__name__ for part in text))
        raise ValueError(f"The text is a {type(text).__name__} of {kinds}: hand over a string, a pair, or token ids.")
    if (isinstance(text, Sequence) and not isinstance(text, bytes | bytearray)) or hasattr(text, "shape"):
        return _of_encoding(tokenizer, {"input_ids": text}, room)
    raise ValueError(
        f"The text is {type(text).__name__}, and not a string, a pair of strings, token ids, or what a tokenizer gave."
    )


def _is_chat(text: Any) -> bool:
    """Return whether a text is the messages of a chat, of several chats, or beside other things."""
    messages = text.get("messages") if isinstance(text, Mapping) else text
    if isinstance(messages, Sequence) and messages and isinstance(messages[0], list):
        messages = messages[0]
    return isinstance(messages, Sequence) and any(isinstance(part, Mapping) for part in messages)


def _of_encoding(tokenizer: Any, encoding: Mapping[str, Any], room: Room) -> ReadText:
    """Token ids and what stands beside them: a padding mask, the segments of a pair."""
    if "input_ids" not in encoding:
        raise ValueError(
            f"There are no input_ids among {', '.join(map(repr, encoding))}, so there is no token for a row: hand over "
            "those of the text, or run the model yourself, viz.show(attentions, tokens)."
        )
    # transformers calls it ``past_key_values`` up to 5.23.
    if cache := {"cache", "past_key_values"} & encoding.keys():
        raise ValueError(
            f"There is {', '.join(cache)} beside the input_ids: that holds a part of the text that was read before. "
            "Hand over the ids of the whole text and no cache, so that every token has its row."
        )
    inputs = {name: _tensor(name, value) for name, value in encoding.items() if name != "labels"}
    inputs = {name: value[None] if value.dim() == 1 else value for name, value in inputs.items()}
    ids = inputs["input_ids"]
    if not ids.numel():
        raise ModelError("empty")
    if ids.dim() != 2 or ids.is_floating_point() or ids.dtype == torch.bool:
        raise ValueError(
            f"The token ids are {' × '.join(map(str, ids.shape))} {ids.dtype}, and not (1, tokens) integers."
        )
    if int(ids.min()) < 0:
        raise ValueError(
            f"One of the token ids is {int(ids.min())}, and they count from 0: leave out what stands for no token."
        )
    if len(ids) != 1:
        raise ValueError(
            f"These are the token ids of {len(ids)} texts: hand over one of them, "
            "{name: value[:1] for name, value in inputs.items()}."
        )
    total = ids.shape[1]
    mask = inputs.get("attention_mask")
    if mask is not None:
        check_mask(mask, total)
    token_places = [i for i in range(total) if mask is None or mask.dim() != 2 or bool(mask[0, i])]
    most = room(int(ids[0, token_places[0]]), total) if token_places else total
    extras = [name for name, value in inputs.items() if value.shape[1:] != (total,) and "decoder" not in name]
    if most < total and extras:
        raise ValueError(
            f"The model reads {most} tokens at once, and these are {total} beside {', '.join(extras)}, which does not "
            "fit a part of them: hand over a shorter text."
        )
    inputs = {name: value[:, :most] if value.shape[1:2] == (total,) else value for name, value in inputs.items()}
    token_places = [place for place in token_places if place < most]
    return ReadText(
        inputs=inputs,
        labels=name_tokens(tokenizer, inputs["input_ids"][0].tolist()),
        token_places=token_places,
        total=total,
    )


def _tensor(name: str, value: Any) -> Tensor:
    try:
        if isinstance(value, Tensor):
            return value.long() if value.dtype in UNSIGNED else value
        array = np.asarray(value) if hasattr(value, "__array__") else None
        return torch.as_tensor(value if array is None or array.dtype.kind not in "iu" else array.astype(np.int64))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"The {name} are no table of numbers ({error}): hand over those of one text, [5, 7, 9]."
        ) from error


def _of_strings(tokenizer: Any, texts: tuple[str, ...], room: Room, is_target: bool) -> ReadText:
    check_tokenizer(tokenizer)
    texts = tuple(text.encode("utf-8", "replace").decode() for text in texts)  # half a surrogate pair is no text
    if hasattr(tokenizer, "no_truncation"):
        encoding = encode_whole(tokenizer, texts)
        inputs = {"input_ids": encoding.ids} | ({"token_type_ids": encoding.type_ids} if len(texts) == 2 else {})
        added = [bool(flag) for flag in encoding.special_tokens_mask]
        return _of_one_encoding(tokenizer, inputs, added, encoding.sequence_ids, room)
    if not callable(tokenizer):
        return _of_encoding(tokenizer, encode(tokenizer, texts), room)
    is_fast = bool(getattr(tokenizer, "is_fast", False))
    options = {"return_special_tokens_mask": True, "verbose": False}
    if not takes(tokenizer, *options):
        encoding = open_encoding(tokenizer(*texts))
    else:
        encoding = tokenizer(text_target=texts[0], **options) if is_target else tokenizer(*texts, **options)
    is_mapping = isinstance(encoding, Mapping)
    if not is_mapping or "special_tokens_mask" not in encoding:  # a function of one's own
        return _of_encoding(tokenizer, encoding if is_mapping else {"input_ids": encoding}, room)
    added = [bool(flag) for flag in encoding.pop("special_tokens_mask")]
    sequences = encoding.sequence_ids() if is_fast else [None if flag else 0 for flag in added]
    return _of_one_encoding(tokenizer, encoding, added, sequences, room)


def _of_one_encoding(
    tokenizer: Any, encoding: Mapping[str, Any], added: Sequence[bool], sequences: Sequence[int | None], room: Room
) -> ReadText:
    """A whole text, cut to what a model reads, with the tokens that a tokenizer added.

    Args:
        tokenizer: which made the encoding.
        encoding: lists of one number for each token.
        added: which tokens are none of the text's.
        sequences: which of two texts each token is of.
        room: measures how many tokens the model reads.

    Raises:
        ModelError: "empty", if there is no token of a text.
    """
    if all(added):
        raise ModelError("empty")
    total = len(added)
    limit = getattr(tokenizer, "model_max_length", UNLIMITED)
    most = int(limit) if isinstance(limit, int | float) and 0 < limit < total else total
    token_places = _cut(added, sequences, min(most, room(encoding["input_ids"][added.index(False)], most)))
    inputs = {
        name: torch.tensor([[value[i] for i in token_places]])
        for name, value in encoding.items()
        if len(value) == total
    }
    names = name_tokens(tokenizer, inputs["input_ids"][0].tolist())
    return ReadText(inputs=inputs, labels=names, token_places=list(range(len(token_places))), total=total)


def _cut(added: Sequence[bool], sequences: Sequence[int | None], most: int) -> list[int]:
    """Return the places that are kept: special tokens stay, words are left out at the end of the longer text."""
    words = {number: [i for i, part in enumerate(sequences) if part == number and not added[i]] for number in (0, 1)}
    room = max(1, most - sum(added))
    while len(words[0]) + len(words[1]) > room:
        over = len(words[0]) + len(words[1]) - room
        longer = 0 if len(words[0]) >= len(words[1]) else 1
        excess = max(1, min(over, abs(len(words[0]) - len(words[1]))))
        words[longer] = words[longer][:-excess]
    word_places = {*words[0], *words[1]}
    return [i for i, is_special in enumerate(added) if is_special or i in word_places]


def name_tokens(tokenizer: Any, ids: list[int]) -> list[str]:
    """Return a label for each token, as the app writes it; a number that the tokenizer does not know is its label."""
    if hasattr(tokenizer, "decode_single_token_bytes"):
        return list(spell([_name_of(tokenizer.decode_single_token_bytes, i) for i in ids]))
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        if ids and all(0 <= i < LARGEST_ID for i in ids):
            return list(labels(tokenizer, ids))
        return [labels(tokenizer, [i])[0] if 0 <= i < LARGEST_ID else f"⟨{i}⟩" for i in ids]
    to_token = next((getattr(tokenizer, name) for name in TO_TOKEN if hasattr(tokenizer, name)), str)
    return list(spell(raw_parts([str(_name_of(to_token, i)) for i in ids])))


def _name_of(to_token: Callable[[int], Any], number: int) -> Any:
    """A token's name or bytes; its number where the tokenizer has none."""
    try:
        token = to_token(number)
    except (KeyError, IndexError, OverflowError):
        token = None
    return f"⟨{number}⟩" if token is None else token
