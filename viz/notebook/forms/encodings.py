"""Tokenizers of other libraries, and functions in a tokenizer's place, called in the way each of them takes."""

import inspect
from collections.abc import Callable
from typing import Any

import torch


def takes(function: Callable[..., Any], *names: str) -> bool:
    """Return whether a function takes arguments of these names, as far as it says."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return any(part.kind is part.VAR_KEYWORD for part in parameters.values()) or all(
        map(parameters.__contains__, names)
    )


def encode_whole(tokenizer: Any, texts: tuple[str, ...]) -> Any:
    """The encoding of a text by ``tokenizers`` itself, neither cut nor padded; its settings are as they were."""
    truncation, padding = tokenizer.truncation, tokenizer.padding
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        return tokenizer.encode(*texts)
    finally:
        if truncation:
            tokenizer.enable_truncation(**truncation)
        if padding:
            tokenizer.enable_padding(**padding)


def encode(tokenizer: Any, texts: tuple[str, ...]) -> dict[str, Any]:
    """Token ids by tiktoken or by SentencePiece."""
    if len(texts) == 1:
        try:
            encoding = tokenizer.encode(texts[0])
        except ValueError as error:  # tiktoken, of a text with the name of a special token
            first = (str(error).splitlines() or [""])[0][:160]
            raise ValueError(
                f"The tokenizer does not read this text ({first}). Token ids can stand in its place: "
                "viz.show(model, tokenizer, ids)."
            ) from error
        return {"input_ids": torch.tensor([list(getattr(encoding, "ids", encoding))], dtype=torch.long)}
    raise ValueError("This tokenizer reads one text at a time: join the two, or hand over their token ids.")
