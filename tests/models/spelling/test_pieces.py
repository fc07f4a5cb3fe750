"""Labels of pieces: the pieces of a split letter are numbered by their place in it."""

from copy import deepcopy

import pytest

from tests.models.spelling.tokenizers import ENGLAND, FALLBACK, FAMILY, KINDS, TEXTS, tokenizer_of
from viz.models.spelling.pieces import raw_parts, share_out, spell
from viz.models.tokens import guesses, labels, read_text

CUT = str.maketrans("", "", "₀₁₂₃₄₅₆₇₈₉◌")


def raw(tokens):
    return spell(raw_parts(tokens))


@pytest.mark.parametrize("kind", ["raw bytes", "unigram with bytes", "unigram with bytes, no first space"])
def test_labels_repeated_letters_start_again(kind):
    tokens = read_text(tokenizer_of(kind), "😂😂猫猫", 99)
    assert tokens.labels[-14:] == (*("😂₁", "😂₂", "😂₃", "😂₄") * 2, *("猫₁", "猫₂", "猫₃") * 2)


def test_spell_several_letters_in_one_token():
    """A token may hold the end of one letter and the beginning of the next, spaces, and whole letters besides."""
    data = "aé猫 ע".encode()
    cuts = [data[:2], data[2:5], data[5:8], data[8:]]
    assert spell(cuts) == ("aé₁", "é₂猫₁", "猫₃␣ע₁".replace("₃", "₂"), "ע₂")


@pytest.mark.parametrize("text", [*TEXTS.values(), FAMILY, ENGLAND])
def test_spell_every_cut_keeps_every_letter(text):
    """For every split of a text the letters keep their order, and only split letters have a number."""
    data = text.encode("utf-8", "replace")
    for size in (1, 2, 3, 5, 7):
        labels = spell([data[i : i + size] for i in range(0, len(data), size)])
        assert all(labels)
        assert not any("…" in label for label in labels), "no byte is left over"
    assert "".join(spell([letter.encode("utf-8", "replace") for letter in text])).translate(CUT)


def test_spell_stray_bytes_are_written_out():
    letter = "猫".encode()
    assert spell([letter[:2], "[SEP]", letter[2:], b"\xff", b"a\xc3"]) == (
        "⟨E7 8C…⟩",
        "[SEP]",
        "⟨…AB⟩",
        "⟨FF…⟩",
        "a⟨C3…⟩",
    )


@pytest.mark.parametrize("kind", ["bytes", "unigram with bytes", "CLIP"])
def test_guesses_are_read_apart(kind):
    """Candidates for one position are read separately: the bytes of several candidates form no letter."""
    tokenizer = tokenizer_of(kind)
    ids = [i for i, label in zip(*_ids_and_labels(tokenizer, "猫"), strict=True) if label.startswith("猫")]
    assert labels(tokenizer, ids) == ("猫₁", "猫₂", "猫₃")
    assert guesses(tokenizer, ids) == ("⟨E7…⟩", "⟨…8C⟩", "⟨…AB⟩")


def test_byte_among_added_tokens_is_byte():
    """A tokenizer may list its bytes among special tokens; its decoder writes bytes all the same."""
    tokenizer = deepcopy(tokenizer_of("unigram with bytes"))
    tokenizer.add_tokens(FALLBACK, special_tokens=True)
    ids = tokenizer.convert_tokens_to_ids(["<0x79>", "<0x7A>"])
    assert guesses(tokenizer, ids) == labels(tokenizer, ids) == tuple(tokenizer.decode(ids)) == ("y", "z")


def _ids_and_labels(tokenizer, text):
    tokens = read_text(tokenizer, text, 99)
    return tokens.ids, tokens.labels


def test_labels_cut_text_keeps_last_letter():
    """The first piece of a letter names it even if the text is cut inside that letter."""
    tokens = read_text(tokenizer_of("raw bytes"), "ab猫", 3)
    assert (tokens.labels, tokens.n_excess) == (("a", "b", "猫₁"), 2)


@pytest.mark.parametrize("kind", ["CLIP", "GPT-1"])
def test_labels_end_marks_are_left_out(kind):
    assert not any("</w>" in label for label in read_text(tokenizer_of(kind), "the animal was tired.", 99).labels)


@pytest.mark.parametrize("kind", KINDS)
def test_raw_parts_read_as_labels(kind):
    """The tokenizer's own token strings give the app's labels, since a notebook may have only these."""
    for name in TEXTS.keys() - {"marks that tokenizers use"}:
        tokens = read_text(tokenizer_of(kind), TEXTS[name], 10_000)
        assert raw(tokenizer_of(kind).convert_ids_to_tokens(list(tokens.ids))) == tokens.labels, name


@pytest.mark.parametrize(
    "tokens",
    [
        ["Zażółć", "gęślą", "jaźń", "mały"], ["Příliš", "žluťoučký", "kůň"], ["Ġorġ", "u", "ħobż"], ["café", "é"],
        ["Ċ", "a"], ["Łoś"], ["naïve", "Ã"], ["猫", "é"],
    ],
)  # fmt: skip
def test_raw_parts_other_letters_stay(tokens):
    """Letters that also stand for bytes are letters where the bytes would be no text."""
    assert raw(tokens) == tuple(tokens)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["ä½łå¥½", "Ġä¸ĸçķĮ"], ("你好", "␣世界")),
        (["ç", "Į", "«"], ("猫₁", "猫₂", "猫₃")),
        (["<|endoftext|>", "cafÃ©", "<s>"], ("<|endoftext|>", "café", "<s>")),
        (["<0xE7>", "<0x8C>", "<0xAB>", "▁a"], ("猫₁", "猫₂", "猫₃", "␣a")),
        (["ĠÃ", "©t", "Ã©"], ("␣é₁", "é₂t", "é")),
        (["the</w>", "[CLS]", "##ing"], ("the", "[CLS]", "##ing")),
        (["Ã", "©", " ", "ç", "\x8c", "«", "</s>"], ("é₁", "é₂", "␣", "猫₁", "猫₂", "猫₃", "</s>")),
        (["<｜begin▁of▁sentence｜>", "Ġa"], ("<｜begin▁of▁sentence｜>", "␣a")),
    ],
)
def test_raw_parts_bytes_become_letters(tokens, expected):
    assert raw(tokens) == expected


def test_share_out_other_bytes_keep_place():
    """A token that was normalised before it was split has no known letter per piece."""
    assert share_out("ab", [(0, 2), (0, 2)], [b"x", b"y"]) == [(0, 2), (0, 2)]
    assert share_out("a猫b", [(0, 1), (1, 3), (1, 3)], [b"a", "猫".encode(), b"b"]) == [(0, 1), (1, 2), (2, 3)]
