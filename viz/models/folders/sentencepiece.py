"""Tokenizers of SentencePiece's files, read without its package: they are protobuf, and tokenizers does the rest."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from viz.errors import ModelError
from viz.models.folders.files import read_json
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


def find_file(folder: Path) -> Path | None:
    """Return the file of SentencePiece that a folder has its tokenizer in; None if it has another one."""
    other_files = ("tokenizer.json", "vocab.txt")
    if any((folder / name).is_file() for name in other_files):
        return None
    return next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)


def check_file(entry: Entry, file: Path) -> Any:
    """Return the content of a file.

    Raises:
        ModelError: "slow_tokenizer", if its family has no fast tokenizer; "not_sentencepiece", if it is another file.
    """
    if _is_slow(entry, file):
        raise ModelError("slow_tokenizer", model=entry.id, file=file.name)
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
    """Have transformers read the files without the package, and return an empty message of their format.

    Its reader parses the file as protobuf and needs nothing of sentencepiece, yet refuses to begin without it
    (transformers 5.23). Where it has changed, what fails is the reading of these files, in a sentence.
    """
    from transformers.convert_slow_tokenizer import import_protobuf

    _replace_reader()
    return import_protobuf().ModelProto()


@cache
def _replace_reader() -> None:
    from transformers import convert_slow_tokenizer as library
    from transformers.utils import is_sentencepiece_available

    if is_sentencepiece_available():
        return

    class Reader(library.SentencePieceExtractor):  # type: ignore[misc]
        def __init__(self, model: str) -> None:
            self.proto = library.import_protobuf().ModelProto()
            self.proto.ParseFromString(Path(model).read_bytes())

    library.SentencePieceExtractor = Reader


def add_begin(entry: Entry, tokenizer: Any, folder: Path) -> None:
    """Have a tokenizer begin each text with the mark its model was trained with.

    transformers 5.23 leaves it out where no tokenizer_config.json asks for it; earlier versions put it there.
    """
    file = folder / "tokenizer_config.json"
    has_begin_mark = read_json(entry, file).get("add_bos_token") if file.is_file() else None
    if has_begin_mark is None and type(tokenizer).__name__ in BEGIN:
        tokenizer.add_bos_token = True


def add_normalizer(tokenizer: Any, proto: Any) -> None:
    """Have a tokenizer change letters as its file says (full-width ones, ligatures), where its class leaves that out.

    MBartTokenizer of transformers 5.23 does.
    """
    from tokenizers import normalizers

    table, backend = proto.normalizer_spec.precompiled_charsmap, tokenizer.backend_tokenizer
    if not table or "Precompiled" in json.dumps(json.loads(backend.to_str())["normalizer"]):
        return
    rest = [] if backend.normalizer is None else [backend.normalizer]
    backend.normalizer = normalizers.Sequence([normalizers.Precompiled(table), *rest])


def find_difference(tokenizer: Any, proto: Any) -> str | None:
    """Return in a few words how a tokenizer reads otherwise than its file says; None if it does not."""
    vocabulary = tokenizer.get_vocab()
    if missing := [piece.piece for piece in proto.pieces if piece.type == 1 and piece.piece not in vocabulary]:
        return f"{len(missing)} of its {len(proto.pieces)} pieces were not read"
    is_bytes = any(piece.type == 6 for piece in proto.pieces)
    unknown = {tokenizer.unk_token_id, vocabulary.get("▁")}
    if not is_bytes and not set(tokenizer(UNKNOWN, add_special_tokens=False)["input_ids"]) <= unknown:
        return "another token stands for unknown ones"
    first = tokenizer.convert_ids_to_tokens(tokenizer("a", add_special_tokens=False)["input_ids"][:1])
    is_apart = [token.startswith("▁") for token in first if token != tokenizer.unk_token]
    if is_apart and is_apart[0] != proto.normalizer_spec.add_dummy_prefix:
        return "the space before the first word"
    return None
