"""GGUF (github.com/ggml-org/ggml, docs/gguf.md): a Llama model, its tokenizer and its sizes in one file.

The package ``gguf`` reads it too, and is what the tests compare with. It takes seven seconds for the words of
SmolLM2's tokenizer alone, where this takes a third of one.
"""

from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from viz.models.packaged import quantised
from viz.models.packaged.parts import Cursor, Parts, fast_tokenizer

MAGIC = b"GGUF"
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
FORMATS: dict[int, tuple[int, int, Callable[[Tensor], Tensor]]] = {
    0: (1, 4, lambda data: data.view(torch.float32)),
    3: (32, 20, quantised.q4_1),
    8: (32, 34, quantised.q8_0),
}
"""By their numbers in a file: weights of a block, its bytes, and what makes float32 of it. F32, Q4_1, Q8_0."""
NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Names of modules in a file, and in transformers."""
CONTROL = 3
"""The kind of a token that stands for no text: ``<|im_start|>``."""


MOST_ENTRIES, MOST_ITEMS = 65_536, 4_194_304
"""Of values and tensors, and of a list; the largest vocabularies have 262,144 tokens and twice as many merges."""


def _value(cursor: Cursor, kind: int) -> Any:
    if kind == TEXT:
        return cursor.text("Q")
    if kind == LIST:
        kind, n = cursor.numbers("IQ")
        if kind == LIST or n > MOST_ITEMS:
            raise ValueError(f"a list of {n} of kind {kind} is not read")
        return [_value(cursor, kind) for _ in range(n)]
    return cursor.number(NUMBERS[kind])


def header(file: Path) -> tuple[dict[str, Any], list[tuple[Any, ...]], Cursor]:
    """Return metadata of a file, name, shape, kind and place of its tensors, and a cursor where their bytes begin.

    Raises:
        ValueError: if it has more of anything than any model.
    """
    cursor = Cursor(file)
    cursor.take(len(MAGIC))
    _, n_tensors, n_values = cursor.numbers("IQQ")
    if max(n_tensors, n_values) > MOST_ENTRIES:
        raise ValueError(f"{n_tensors} tensors and {n_values} values are more than any model has")
    metadata = {cursor.text("Q"): _value(cursor, cursor.number("I")) for _ in range(n_values)}
    places = [
        (cursor.text("Q"), cursor.numbers(f"{cursor.number('I')}Q"), *cursor.numbers("IQ")) for _ in range(n_tensors)
    ]
    aligned = metadata.get("general.alignment", 32)
    cursor.at = -(-cursor.at // aligned) * aligned
    return metadata, places, cursor


def contents(file: Path) -> tuple[dict[str, Any], Iterator[tuple[str, Tensor]]]:
    """Metadata of a file, and its tensors, converted to float32 one by one on request."""
    metadata, places, cursor = header(file)
    start = cursor.at

    def tensors() -> Iterator[tuple[str, Tensor]]:
        # A file has the fastest axis first, torch has it last.
        for name, shape, kind, offset in places:
            weights, n_bytes, widen = FORMATS[kind]
            cursor.at = start + offset
            yield name, widen(cursor.tensor(prod(shape) // weights * n_bytes)).view(*reversed(shape))

    return metadata, tensors()


def turn_back(weight: Tensor, n_heads: int) -> Tensor:
    """W_Q or W_K as transformers has it: a file has pairs of RoPE side by side, transformers in two halves.

    Example:
        >>> turn_back(torch.arange(6.0)[:, None], 1).flatten()
        tensor([0., 2., 4., 1., 3., 5.])
    """
    return weight.unflatten(0, (n_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def _name(name: str) -> str:
    """Name of a tensor in transformers."""
    *place, module, _ = name.split(".")
    return f"{f'model.layers.{place[1]}.' if place else ''}{NAMES[module]}.weight"


def _config(metadata: dict[str, Any], *, tied: bool) -> Any:
    from transformers import LlamaConfig

    def size(name: str) -> Any:
        return metadata[f"llama.{name}"]

    return LlamaConfig(
        vocab_size=len(metadata["tokenizer.ggml.tokens"]),
        hidden_size=size("embedding_length"),
        intermediate_size=size("feed_forward_length"),
        num_hidden_layers=size("block_count"),
        num_attention_heads=size("attention.head_count"),
        num_key_value_heads=size("attention.head_count_kv"),
        max_position_embeddings=size("context_length"),
        rms_norm_eps=size("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": size("rope.freq_base")},
        tie_word_embeddings=tied,
        bos_token_id=metadata["tokenizer.ggml.bos_token_id"],
        eos_token_id=metadata["tokenizer.ggml.eos_token_id"],
        architectures=["LlamaForCausalLM"],
    )


def _tokenizer(metadata: dict[str, Any]) -> Any:
    """A byte-level BPE that takes digits one by one ("smollm"), and adds no token of its own to a text."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    if (kind := metadata["tokenizer.ggml.pre"]) != "smollm":
        raise ValueError(f"how a tokenizer of the kind {kind!r} cuts a text is not known here")
    tokens = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds = zip(tokens, metadata["tokenizer.ggml.token_type"], strict=True)
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token, kind in kinds if kind == CONTROL])
    marks = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
    return fast_tokenizer(
        tokenizer,
        model_max_length=metadata["llama.context_length"],
        **{f"{mark}_token": tokens[metadata[f"tokenizer.ggml.{name}_token_id"]] for mark, name in marks.items()},
    )


def read(file: Path) -> Parts:
    """A Llama model out of a GGUF file.

    Raises:
        ValueError: if it is another family's, or its tokenizer of an unknown kind.
    """
    metadata, tensors = contents(file)
    if (family := metadata["general.architecture"]) != "llama":
        raise ValueError(f"a GGUF file of the family {family!r} cannot be read")
    tokenizer, weights = _tokenizer(metadata), {}
    rotary_heads = {
        "attn_q": metadata["llama.attention.head_count"],
        "attn_k": metadata["llama.attention.head_count_kv"],
    }
    for name, weight in tensors:
        n_heads = rotary_heads.get(name.split(".")[-2])
        weights[_name(name)] = turn_back(weight, n_heads) if n_heads else weight
    config = _config(metadata, tied="lm_head.weight" not in weights)
    return Parts(architecture="LlamaForCausalLM", config=config, tokenizer=tokenizer, weights=weights)
