"""Folders whose tokenizer is a file of SentencePiece give its own pieces, or are refused with what to do."""

import json
import shutil
import struct
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

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
    "gemma": (("<pad>", CONTROL), ("<eos>", CONTROL), ("<bos>", CONTROL), ("<unk>", UNKNOWN)),
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


def pieces(kind: int, family: str = "", *, in_bytes: bool = False, apart: bool = True, table: bytes = b"") -> Any:
    """The content of a file: the marks of a family, bytes if it falls back to them, and words of falling score."""
    content = install()
    content.trainer_spec.model_type, content.trainer_spec.byte_fallback = kind, in_bytes
    content.normalizer_spec.add_dummy_prefix, content.normalizer_spec.precompiled_charsmap = apart, table
    # As in the files of T5 and XLM-R on one side, of Llama and Gemma on the other.
    content.normalizer_spec.remove_extra_whitespaces = kind == UNIGRAM
    marks = MARKS.get(family, MARKS[""])
    content.trainer_spec.unk_id = next(i for i, (_, role) in enumerate(marks) if role == UNKNOWN)
    entries = [*marks, *((f"<0x{byte:02X}>", BYTE) for byte in range(256 if in_bytes else 0))]
    entries += ((word, NORMAL) for word in (MERGED if kind == BPE else WORDS))
    for place, (piece, role) in enumerate(entries):
        content.pieces.add(piece=piece, score=-float(place), type=role)
    return content


def with_rules(kind: int = UNIGRAM, *, squeeze: bool = True, user: str = "", in_bytes: bool = False) -> Any:
    """A file with another rule for spaces, or with a symbol of the user's."""
    content = pieces(kind, in_bytes=in_bytes)
    content.normalizer_spec.remove_extra_whitespaces = squeeze
    if user:
        content.pieces.add(piece=user, score=0.0, type=4)
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


def test_merged_pieces_without_space_are_read(folder_with):
    """Gemma's: the first word has no space before it."""
    content = pieces(BPE, "gemma", in_bytes=True, apart=False)
    want = [FIRST + 1 + MERGED.index(piece) for piece in ("t", "he", "▁the")]
    assert ids_of(folder_with("gemma", "tokenizer.model", content, "GemmaTokenizer"), "the the") == [2, *want]


def test_captured_text_has_labels_of_pieces(folder_with):
    model = open_folder(folder_with("t5", "spiece.model", pieces(UNIGRAM, "t5")))
    tokens = read_text(model.tokenizer, TEXT, 9)
    assert [label[1:] for label in tokens.labels[:4]] == TEXT.split() and tokens.words == (0, 1, 2, 3, 4)
    assert capture(model, tokens.text).tokens.ids == tokens.ids


@pytest.mark.parametrize(
    ("family", "file", "content", "kind", "text", "tokens"),
    [
        ("llama", "tokenizer.model", pieces(BPE, in_bytes=True, apart=False), "Llama", "the the", "t he ▁the"),
        ("llama", "tokenizer.model", with_rules(BPE, in_bytes=True), "Llama", " the  t ", "▁the ▁t"),
        ("gemma", "tokenizer.model", pieces(BPE, "gemma", in_bytes=True), "Gemma", "the", "▁the"),
        ("t5", "spiece.model", pieces(UNIGRAM, "t5", in_bytes=True), "T5", "the ß", "▁the ▁ <0xC3> <0x9F>"),
        ("xlm-roberta", "sentencepiece.bpe.model", with_rules(squeeze=False), "XLMRoberta", "the  a ", "▁the ▁ ▁ a ▁"),
    ],
)  # fmt: skip
def test_file_says_spaces_and_bytes(folder_with, family, file, content, kind, text, tokens):
    """The pieces of sentencepiece 0.2.3, where a family's class would cut otherwise."""
    tokenizer = open_folder(folder_with(family, file, content, f"{kind}Tokenizer")).tokenizer
    assert tokenizer.tokenize(text, add_special_tokens=False) == tokens.split(" ")


@pytest.mark.parametrize(
    ("family", "file", "content", "tokenizer_class", "reason"),
    [
        ("t5", "spiece.model", pieces(UNIGRAM), "T5Tokenizer", "▁ a ▁ </s> ▁ a"),
        ("xlm-roberta", "sentencepiece.bpe.model", with_rules(user="at"), "XLMRobertaTokenizer", "'a at aat': "),
    ],
)
def test_other_files_are_refused(folder_with, family, file, content, tokenizer_class, reason):
    """Those whose class would read them as another tokenizer; with the line that converts them."""
    error = refusal(folder_with(family, file, content, tokenizer_class))
    assert error.code == "sentencepiece" and reason in error.values["reason"]
    assert f"AutoTokenizer.from_pretrained('{family}').save_pretrained('{family}')" in str(error)


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
