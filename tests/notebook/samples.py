"""Maps, words and tokenizers for the tests of this folder."""

import torch
import transformers
from torch import Tensor

from tests import checkpoints

WORDS = ["the", "cat", "sat", "down", "."]
NAMES = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}


def layer(queries: int = 5, keys: int | None = None, heads: int = 3, seed: int = 0) -> Tensor:
    """Return the maps of one layer of one text, (1, heads, queries, keys); as many keys as queries by default."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(1, heads, queries, queries if keys is None else keys, generator=generator)
    return scores.softmax(-1)


def fast(kind: str, limit: int = 61) -> transformers.PreTrainedTokenizerFast:
    """Return a small tokenizer of a kind."""
    names = {} if kind == "bytes" else NAMES
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=checkpoints.MAKERS[kind](), model_max_length=limit, **names
    )
