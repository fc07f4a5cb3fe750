"""Parts of a model before transformers assembles it, and a cursor over a binary file."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from viz.models.packaged.quantised import q4_0


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A model as its file has it.

    ``weights`` are float32 by the names transformers gives them; ``modules`` take the place of the modules of these
    names, whose weights are left out of ``weights``; ``options`` are the architecture's own.
    """

    architecture: str
    config: Any
    tokenizer: Any
    weights: Mapping[str, Tensor]
    modules: Mapping[str, "PackedTable"] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def assemble(self, **options: Any) -> Any:
        """The model, on these very tensors: nothing is copied.

        Raises:
            ValueError: if a weight is missing, or there is one that the model has no place for.
        """
        import transformers

        stand_ins = {
            f"{name}.weight": torch.zeros(1, 1).expand(module.num_embeddings, module.embedding_dim)
            for name, module in self.modules.items()
        }
        model, report = getattr(transformers, self.architecture).from_pretrained(
            None,
            config=self.config,
            state_dict=stand_ins | dict(self.weights),
            dtype=torch.float32,
            output_loading_info=True,
            **self.options,
            **options,
        )
        if odd := sorted({*report["missing_keys"], *report["unexpected_keys"]}):
            raise ValueError(f"the file and the model disagree about {odd[0]}")
        for name, module in self.modules.items():
            model.set_submodule(name, module)
        return model


class PackedTable(nn.Module):
    """An embedding table that stays in 4 bits a weight; the rows asked for are widened, with the same result.

    Args:
        blocks: (rows, blocks of a row, 18): a float16 scale and 16 bytes, for 32 weights each.
    """

    def __init__(self, blocks: Tensor) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = blocks.shape[0], blocks.shape[1] * 32
        self.register_buffer("blocks", blocks, persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """The rows of these ids, (..., width), float32."""
        assert isinstance(self.blocks, Tensor)
        return q4_0(self.blocks[ids].flatten()).unflatten(0, (*ids.shape, self.embedding_dim))


class _UncopiedTokenizer:
    """A tokenizer to be taken as it is: transformers copies what it is given, for e5 a second and 300 MB."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __deepcopy__(self, _: Any) -> Any:
        return self.tokenizer


def fast_tokenizer(tokenizer: Any, **marks: Any) -> Any:
    """Wrap a tokenizer for transformers.

    Args:
        tokenizer: one of the library ``tokenizers``; not to be changed any more.
        marks: its special tokens, and the longest text.
    """
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=_UncopiedTokenizer(tokenizer), **marks)


class Cursor:
    """Reads a file from its beginning: little-endian numbers, texts and bytes, one after the other."""

    def __init__(self, file: Path) -> None:
        self.bytes = torch.from_file(str(file), shared=False, size=file.stat().st_size, dtype=torch.uint8)
        self.at = 0
        self._view = self.bytes.numpy().data

    def numbers(self, code: str) -> tuple[Any, ...]:
        """The next numbers, as ``struct`` names them."""
        values = struct.unpack_from(f"<{code}", self._view, self.at)
        self.at += struct.calcsize(f"<{code}")
        return values

    def number(self, code: str) -> Any:
        """The next number."""
        return self.numbers(code)[0]

    def take(self, n_bytes: int) -> bytes:
        """The next bytes, as they are."""
        self.at += n_bytes
        return bytes(self._view[self.at - n_bytes : self.at])

    def text(self, length: str) -> str:
        """A text behind its length in bytes."""
        return self.take(self.number(length)).decode()

    def tensor(self, n_bytes: int) -> Tensor:
        """The next bytes as a tensor of their own."""
        self.at += n_bytes
        return self.bytes[self.at - n_bytes : self.at].clone()
