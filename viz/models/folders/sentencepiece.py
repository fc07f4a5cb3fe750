"""Tokenizers of SentencePiece's files: protobuf and tokenizers read them, and what is cut otherwise is refused."""

import json
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
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

PROBES = ("a", "a a", " a", "a  a", "a ", f"a {UNKNOWN} a")
"""Texts that files read otherwise: one space or two, one at an end, a character without a piece."""

MOST_SYMBOLS = 64
USER, BYTE = 4, 6
"""Roles of a piece: a symbol that the user gave, a byte."""


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
    # The package has a function of this name too, which may stand in the module's place.
    library: Any = import_module("transformers.convert_slow_tokenizer")
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


def follow_file(tokenizer: Any, proto: Any) -> None:
    """Have a tokenizer change letters and spaces, and spell unknown letters in bytes, as its file says.

    The classes of transformers 5.23 follow their family: MBart leaves the table of letters out, Llama keeps two spaces.
    """
    from tokenizers import Regex, Tokenizer, normalizers

    spec, backend = proto.normalizer_spec, tokenizer.backend_tokenizer
    steps: list[Any] = [normalizers.Precompiled(spec.precompiled_charsmap)] if spec.precompiled_charsmap else []
    if spec.remove_extra_whitespaces:
        steps += [normalizers.Replace(Regex("^ +| +$"), ""), normalizers.Replace(Regex(" {2,}"), " ")]
    steps += [normalizers.Prepend("▁")] if spec.add_dummy_prefix else []
    backend.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    backend.pre_tokenizer = None
    state = json.loads(backend.to_str())
    if state["model"].get("byte_fallback") != proto.trainer_spec.byte_fallback:
        state["model"]["byte_fallback"] = proto.trainer_spec.byte_fallback
        backend.model = Tokenizer.from_str(json.dumps(state)).model


def find_difference(tokenizer: Any, proto: Any) -> str | None:
    """Return in a few words how a tokenizer reads otherwise than its file says; None if it does not."""
    vocabulary = tokenizer.get_vocab()
    if missing := [piece.piece for piece in proto.pieces if piece.type == 1 and piece.piece not in vocabulary]:
        return f"{len(missing)} of its {len(proto.pieces)} pieces were not read"
    symbols = [piece.piece for piece in proto.pieces if piece.type == USER and "▁" not in piece.piece][:MOST_SYMBOLS]
    processor = _processor(proto)
    for text in (*PROBES, *(f"a {symbol} a{symbol}" for symbol in symbols)):
        tokens = tokenizer.convert_ids_to_tokens(tokenizer(text, add_special_tokens=False)["input_ids"])
        if processor and _surface(tokens, tokenizer) != _surface(processor(text), tokenizer):
            return f"{text!r}: {' '.join(tokens)}; sentencepiece: {' '.join(processor(text))}"
        if not _is_whole(tokens, text, tokenizer, proto):
            return f"{text!r}: {' '.join(tokens)}"
    return None


def _is_whole(tokens: list[str], text: str, tokenizer: Any, proto: Any) -> bool:
    """Return whether pieces, one after the other, are a text with the spaces that the file asks for."""
    spec = proto.normalizer_spec
    want = re.sub(" +", " ", text).strip(" ") if spec.remove_extra_whitespaces else text
    want = (" " if spec.add_dummy_prefix and want else "") + want
    has_bytes = proto.trainer_spec.byte_fallback and any(piece.type == BYTE for piece in proto.pieces)
    if has_bytes and tokenizer.unk_token in tokens:
        return False
    pattern = "".join(
        ".+" if token == tokenizer.unk_token else re.escape(token) for token in _surface(tokens, tokenizer)
    )
    return re.fullmatch(pattern, want.replace(" ", "▁")) is not None


def _surface(tokens: list[str], tokenizer: Any) -> list[str]:
    """Pieces with bytes as the letters they spell, and one mark for unknown letters in a row."""
    surface: list[str] = []
    raw = bytearray()
    for token in [*tokens, ""]:
        if match := re.fullmatch("<0x([0-9A-F]{2})>", token):
            raw.append(int(match[1], 16))
            continue
        surface += [raw.decode("utf-8", "replace")] if raw else []
        raw.clear()
        is_unknown = token == tokenizer.unk_token or token in (UNKNOWN, f"▁{UNKNOWN}")
        surface += (
            ["▁"] * token.startswith(f"▁{UNKNOWN}") + [tokenizer.unk_token] if is_unknown else [token] * bool(token)
        )
    return surface


def _processor(proto: Any) -> Any:
    """Return the package's own function that cuts a text; None where it is not installed."""
    if find_spec("sentencepiece") is None:
        return None
    processor = import_module("sentencepiece").SentencePieceProcessor(model_proto=proto.SerializeToString())
    return lambda text: processor.encode(text, out_type=str)
