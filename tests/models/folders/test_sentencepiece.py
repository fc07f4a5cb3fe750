"""Folders whose tokenizer is a file of SentencePiece give its own pieces, or are refused with what to do."""

import io
import json
import shutil
import struct
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from tests.checkpoints import open_folder
from tests.models.conftest import Checkpoint
from tests.models.folders.test_folders import refusal
from viz.models import capture
from viz.models.folders.sentencepiece import install
from viz.models.tokens import read_text

WORDS = ["▁the", "▁animal", "▁was", "▁old", "▁", "t", "h", "e", "a", "n", "i", "m", "l", "w", "s", "o", "d", "al", "an"]
MERGED = ["▁t", "he", "▁the", "▁", "t", "h", "e", "a"]
"""Pieces in the order in which pairs are merged."""

TEXT = "the animal was old"
UNIGRAM, BPE = 1, 2
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
MARKS = {
    "t5": (("<pad>", CONTROL), ("</s>", CONTROL), ("<unk>", UNKNOWN)),
    "": (("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)),
}


def small_letter_a() -> bytes:
    """A table that makes of A an a: a double-array trie of one key, and the letters that stand for it.

    A unit holds the letter that leads to it, a mark where a key ends there, and how far its children are.
    """
    units = [0] * 256
    units[0] = 1 << 10
    units[1 ^ ord("A")] = ord("A") | 1 << 8 | 2 << 10
    units[1 ^ ord("A") ^ 2] = 1 << 31
    return struct.pack("<I256I", 1024, *units) + b"a\0"


def pieces(kind: int, family: str = "", *, in_bytes: bool = False, table: bytes = b"") -> Any:
    """The content of a file: the marks of a family, bytes if it falls back to them, and words of falling score."""
    content = install()
    content.trainer_spec.model_type, content.trainer_spec.byte_fallback = kind, in_bytes
    content.normalizer_spec.add_dummy_prefix, content.normalizer_spec.precompiled_charsmap = True, table
    # As in the files of T5 and XLM-R on one side, of Llama and Gemma on the other.
    content.normalizer_spec.remove_extra_whitespaces = kind == UNIGRAM
    marks = MARKS.get(family, MARKS[""])
    content.trainer_spec.unk_id = next(i for i, (_, role) in enumerate(marks) if role == UNKNOWN)
    entries = [*marks, *((f"<0x{byte:02X}>", BYTE) for byte in range(256 if in_bytes else 0))]
    entries += ((word, NORMAL) for word in (MERGED if kind == BPE else WORDS))
    for place, (piece, role) in enumerate(entries):
        content.pieces.add(piece=piece, score=-float(place), type=role)
    return content


@pytest.fixture
def folder_with(checkpoint: Checkpoint, tmp_path: Path):
    """Return a function that saves a family's folder with one SentencePiece file as tokenizer."""

    def make(family: str, file: str, content: Any, tokenizer_class: str = "") -> Path:
        folder = Path(shutil.copytree(checkpoint(family), tmp_path / family))
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).unlink()
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
        if tokenizer_class:
            settings = {"tokenizer_class": tokenizer_class, "model_max_length": 61}
            (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        return folder

    return make


def ids_of(folder: Path, text: str) -> list[int]:
    return open_folder(folder).tokenizer(text)["input_ids"]


@pytest.mark.parametrize("text", [TEXT, "the Animal was  old"])
@pytest.mark.parametrize(
    ("family", "file", "ids"),
    [
        ("t5", "spiece.model", [3, 4, 5, 6, 1]),
        ("xlm-roberta", "sentencepiece.bpe.model", [0, 4, 5, 6, 7, 2]),
        ("mbart", "sentencepiece.bpe.model", [4, 5, 6, 7, 2, 26]),
    ],
)
@pytest.mark.parametrize("is_named", [True, False])
def test_unigram_pieces_equal_values_by_hand(folder_with, family, file, ids, text, is_named):
    """With the marks of each family, letters changed as the file says; the class is named or is the family's own.

    Fairseq's families put a mark for padding before the pieces; mBART's languages begin behind them, with the Arabic.
    """
    names = {"t5": "T5Tokenizer", "xlm-roberta": "XLMRobertaTokenizer", "mbart": "MBartTokenizer"}
    content = pieces(UNIGRAM, family, table=small_letter_a())
    assert ids_of(folder_with(family, file, content, names[family] if is_named else ""), text) == ids


GEMMA = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
T5 = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
FIRST = 3 + 256
"""Place of the first word in a vocabulary with three marks and all bytes."""


@pytest.mark.parametrize(
    ("changes", "begin"), [({}, [1]), ({"add_bos_token": True}, [1]), ({"add_bos_token": False}, [])]
)
def test_merged_pieces_equal_values_by_hand(folder_with, changes, begin):
    """Llama's: pairs merged, letters that are no piece as bytes, and a mark at the beginning unless it is taken out."""
    folder = folder_with("llama", "tokenizer.model", pieces(BPE, in_bytes=True), "LlamaTokenizer")
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    want = [FIRST + MERGED.index(piece) for piece in ("▁the", "▁", "h", "a", "t", "▁")] + [3 + 0xC3, 3 + 0x9F]
    assert ids_of(folder, "the hat ß") == begin + want


def test_merged_pieces_without_settings_are_read(folder_with):
    """Llama's reads what no file names a class for."""
    folder = folder_with("llama", "tokenizer.model", pieces(BPE, in_bytes=True))
    assert ids_of(folder, "the") == [1, FIRST + MERGED.index("▁the")]


def test_captured_text_has_labels_of_pieces(folder_with):
    model = open_folder(folder_with("t5", "spiece.model", pieces(UNIGRAM, "t5")))
    tokens = read_text(model.tokenizer, TEXT, 9)
    assert [label[1:] for label in tokens.labels[:4]] == TEXT.split() and tokens.words == (0, 1, 2, 3, 4)
    assert capture(model, tokens.text).tokens.ids == tokens.ids


def test_other_marks_are_refused(folder_with):
    """Read by its class as another tokenizer; with the line that converts it."""
    error = refusal(folder_with("t5", "spiece.model", pieces(UNIGRAM), "T5Tokenizer"))
    assert error.code == "sentencepiece" and "▁ a ▁ </s> ▁ a" in error.values["reason"]
    assert "AutoTokenizer.from_pretrained('t5').save_pretrained('t5')" in str(error)


TIKTOKEN = b"\n".join(b64encode(bytes([byte])) + b" %d" % byte for byte in range(256))
"""The form of the tokenizer.model that Llama 3 was published with."""


@pytest.mark.parametrize("content", [b"", b"{}", TIKTOKEN])
def test_other_formats_are_no_sentencepiece(folder_with, content):
    """Its package cannot convert them either, so the sentence does not advise it."""
    error = refusal(folder_with("llama", "tokenizer.model", content, "LlamaTokenizer"))
    assert error.code == "not_sentencepiece" and "package" not in str(error)


@pytest.mark.parametrize(
    ("family", "file", "tokenizer_class"),
    [
        ("marian", "source.spm", "MarianTokenizer"), ("marian", "source.spm", ""),
        ("m2m_100", "sentencepiece.bpe.model", "M2M100Tokenizer"), ("m2m_100", "sentencepiece.bpe.model", ""),
        ("bert-generation", "spiece.model", ""),
    ],
)  # fmt: skip
def test_slow_tokenizers_are_refused(folder_with, family, file, tokenizer_class):
    """Their families have no fast tokenizer, so the error does not explain how to write tokenizer.json."""
    error = refusal(folder_with(family, file, pieces(UNIGRAM), tokenizer_class))
    assert error.code == "slow_tokenizer" and file in str(error) and "save_pretrained" not in str(error)


def test_absent_package_is_named(folder_with, monkeypatch):
    """With the line that installs it."""
    folder = folder_with("t5", "spiece.model", pieces(UNIGRAM, "t5"))
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    error = refusal(folder)
    assert error.code == "package" and "pip install sentencepiece" in str(error)


@pytest.mark.parametrize(
    ("family", "file", "kind", "settings", "is_same"),
    [
        ("llama", "tokenizer.model", "bpe", {"byte_fallback": True, "normalization_rule_name": "identity"}, True),
        ("llama", "tokenizer.model", "bpe", {"byte_fallback": True, "add_dummy_prefix": False}, True),
        ("gemma", "tokenizer.model", "bpe", {"byte_fallback": True, "add_dummy_prefix": False} | GEMMA, True),
        ("t5", "spiece.model", "unigram", {"byte_fallback": True} | T5, True),
        ("xlm-roberta", "sentencepiece.bpe.model", "unigram", {"remove_extra_whitespaces": False}, True),
        ("t5", "spiece.model", "unigram", {"normalization_rule_name": "nmt_nfkc_cf"} | T5, True),
        ("t5", "spiece.model", "bpe", T5, False),
        ("xlm-roberta", "sentencepiece.bpe.model", "unigram", {"normalization_rule_name": "identity"}, True),
        ("xlm-roberta", "sentencepiece.bpe.model", "bpe", {}, False),
        ("xlm-roberta", "sentencepiece.bpe.model", "unigram", {"user_defined_symbols": "at"}, False),
    ],
)
def test_trained_file_is_same_or_refused(folder_with, family, file, kind, settings, is_same):
    """A file of another kind than its family's was read, and cut every longer text otherwise."""
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([f"{TEXT}, and the {word} hat" for word in ("late", "sad", "mild") * 5]),
        model_writer=trained, model_type=kind, vocab_size=300, hard_vocab_limit=False, minloglevel=2, **settings,
    )  # fmt: skip
    folder = folder_with(family, file, trained.getvalue())
    if not is_same:
        assert refusal(folder).code == "sentencepiece"
        return
    tokenizer = open_folder(folder).tokenizer
    processor = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    for text in (TEXT, f"  {TEXT}\n\t mild  hats", "THE ＨＡＴ", " "):
        tokens = tokenizer.convert_ids_to_tokens(tokenizer(text, add_special_tokens=False)["input_ids"])
        assert [token for token in tokens if token != tokenizer.unk_token] == [
            piece for piece in processor.encode(text, out_type=str) if not processor.is_unknown(processor[piece])
        ]
