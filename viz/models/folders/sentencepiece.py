"""Tokenizers of SentencePiece's files: what is cut otherwise than by its own package is refused."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from viz.errors import ModelError
from viz.models.folders.files import import_package, read_json
from viz.models.folders.recognise import SENTENCEPIECE
from viz.models.registry import Entry

SLOW = {
    "marian": "MarianTokenizer", "m2m_100": "M2M100Tokenizer", "bert-generation": "BertGenerationTokenizer",
    "speech_to_text": "Speech2TextTokenizer", "gpt-sw3": "GPTSw3Tokenizer",
}  # fmt: skip
"""Families whose tokenizer transformers has in a slow form alone, and that form."""

BEGIN = ("LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer")
"""Tokenizers that put a mark before a text unless tokenizer_config.json says otherwise."""

UNKNOWN = "\U0010fffd"
"""A character that no vocabulary has."""

PROBES = ("a", "a a", " a", "a  a", "a ", f"a {UNKNOWN} a", "a\ta\n a", "Ａ\u00a0ﬁ")
"""Texts that files read otherwise: spaces of every kind, a character without a piece, letters that are written anew."""

MOST_PIECES = 64
"""Pieces, and symbols of the user's, of which texts are made to compare."""

NORMAL, USER = 1, 4
"""Roles of a piece: a part of words, a symbol that the user gave."""


def find_file(folder: Path) -> Path | None:
    """Return the file of SentencePiece that a folder has its tokenizer in; None if it has another one."""
    other_files = ("tokenizer.json", "vocab.txt")
    if any((folder / name).is_file() for name in other_files):
        return None
    return next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)


def check_file(entry: Entry, file: Path) -> Any:
    """Return the content of a file.

    Raises:
        ModelError: "slow_tokenizer", if its family has no fast tokenizer; "package"; "not_sentencepiece", if it is
            another file.
    """
    if _is_slow(entry, file):
        raise ModelError("slow_tokenizer", model=entry.id, file=file.name)
    import_package(entry, file.name, "sentencepiece")
    try:
        proto = install()
        proto.ParseFromString(file.read_bytes())
    except Exception as error:
        raise ModelError("not_sentencepiece", model=entry.id, file=file.name, reason=type(error).__name__) from error
    if not proto.pieces:
        raise ModelError("not_sentencepiece", model=entry.id, file=file.name, reason="0 pieces")
    return proto


def refusal(entry: Entry, file: Path, reason: str) -> ModelError:
    """The sentence on a file that is not read here, with the line that writes one that is."""
    return ModelError("sentencepiece", model=entry.id, file=file.name, reason=reason, folder=file.parent.name)


def _is_slow(entry: Entry, file: Path) -> bool:
    folder = file.parent
    of_tokenizer, of_model = (
        read_json(entry, folder / name) if (folder / name).is_file() else {}
        for name in ("tokenizer_config.json", "config.json")
    )
    known_as = str(of_tokenizer.get("tokenizer_class") or SLOW.get(str(of_model.get("model_type")), ""))
    return file.name == "source.spm" or known_as.removesuffix("Fast") in SLOW.values()


def install() -> Any:
    """Import the format of the files, and return an empty message of it."""
    return import_module("sentencepiece.sentencepiece_model_pb2").ModelProto()


def add_begin(entry: Entry, tokenizer: Any, folder: Path) -> None:
    """Have a tokenizer begin each text with the mark its model was trained with.

    transformers 5.23 leaves it out where no tokenizer_config.json asks for it; earlier versions put it there.
    """
    file = folder / "tokenizer_config.json"
    has_begin_mark = read_json(entry, file).get("add_bos_token") if file.is_file() else None
    if has_begin_mark is None and type(tokenizer).__name__ in BEGIN:
        tokenizer.add_bos_token = True


def follow_file(tokenizer: Any, proto: Any) -> None:
    """Have a tokenizer change letters and spaces, and spell unknown letters in bytes, as its file says.

    The classes of transformers 5.23 follow their family: MBart leaves the table of letters out, Llama keeps two spaces,
    and pairs are merged in the order of the pieces, not of their scores.
    """
    from tokenizers import Regex, Tokenizer, normalizers

    spec, backend = proto.normalizer_spec, tokenizer.backend_tokenizer
    steps: list[Any] = [normalizers.Precompiled(spec.precompiled_charsmap)] if spec.precompiled_charsmap else []
    if spec.remove_extra_whitespaces:
        steps += [normalizers.Replace(Regex(r"\A +| +\z"), ""), normalizers.Replace(Regex(" {2,}"), " ")]
    steps += [normalizers.Prepend("▁")] if spec.add_dummy_prefix else []
    backend.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    backend.pre_tokenizer = None
    state = json.loads(backend.to_str())
    state["model"]["byte_fallback"] = proto.trainer_spec.byte_fallback
    if merges := state["model"].get("merges"):
        scores = {piece.piece: piece.score for piece in proto.pieces}
        merges.sort(key=lambda pair: -scores.get("".join(pair), 0.0))
    backend.model = Tokenizer.from_str(json.dumps(state)).model


def find_difference(tokenizer: Any, proto: Any) -> str | None:
    """Return in a few words how a tokenizer reads otherwise than its file says; None if it does not."""
    vocabulary = tokenizer.get_vocab()
    if missing := [piece.piece for piece in proto.pieces if piece.type == 1 and piece.piece not in vocabulary]:
        return f"{len(missing)} of its {len(proto.pieces)} pieces were not read"
    normal, symbols = ([piece.piece for piece in proto.pieces if piece.type == role] for role in (NORMAL, USER))
    sample = [piece.replace("▁", " ") for piece in normal[:: -(-len(normal) // MOST_PIECES) or 1]]
    symbols = [symbol.replace("▁", " ") for symbol in symbols if symbol.strip("▁")][:MOST_PIECES]
    processor = import_module("sentencepiece").SentencePieceProcessor(model_proto=proto.SerializeToString())
    for text in (*PROBES, "".join(sample), "".join(reversed(sample)), *(f"a {symbol} a{symbol}" for symbol in symbols)):
        tokens = tokenizer.convert_ids_to_tokens(tokenizer(text, add_special_tokens=False)["input_ids"])
        pieces = processor.encode(text, out_type=str)
        ours = ["" if token == tokenizer.unk_token else token for token in tokens]
        if _surface(ours) != _surface(["" if processor.is_unknown(processor[p]) else p for p in pieces]):
            return f"{text[:40]!r}: {' '.join(tokens)[:60]}; sentencepiece: {' '.join(pieces)[:60]}"
    return None


def _surface(pieces: list[str]) -> list[str]:
    """Pieces with bytes as the letters they spell, and one empty mark for unknown letters in a row."""
    spelt = re.sub(
        r"(?:<0x[0-9A-F]{2}>\0)+",
        lambda match: bytes.fromhex(re.sub("<0x|>\0", "", match[0])).decode("utf-8", "replace") + "\0",
        "".join(f"{piece}\0" for piece in pieces),
    ).split("\0")[:-1]
    return [piece for i, piece in enumerate(spelt) if piece or not i or spelt[i - 1]]
