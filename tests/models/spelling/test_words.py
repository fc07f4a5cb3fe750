"""Words by their position in the text: joined with the characters between them, they give the text."""

import unicodedata

import pytest

from tests.models.spelling.tokenizers import FAMILY, KINDS, TEXTS, tokenizer_of
from viz.models.spelling.visible import visible
from viz.models.spelling.words import number_words, words_in
from viz.models.tokens import Tokens, read_text, split_words, word_labels, words_as_read


def places_of_words(tokens: Tokens) -> list[tuple[int, int]]:
    """Return the token positions of every word."""
    pieces = [[i for i, word in enumerate(tokens.words) if word == number] for number in range(tokens.words[-1] + 1)]
    return [(tokens.spans[group[0]][0], tokens.spans[group[-1]][1]) for group in pieces]


@pytest.mark.parametrize("kind", KINDS)
def test_whole_words_join_to_text(kind):
    """Merged words and the characters between them give the text, in every script."""
    for text in TEXTS.values():
        _join_to_text(read_text(tokenizer_of(kind), text, 10_000), text.encode("utf-8", "replace").decode())


def _join_to_text(tokens: Tokens, text: str) -> None:
    places, labels = places_of_words(tokens), word_labels(tokens)
    text_so_far, at = "", 0
    for (start, end), label in zip(places, labels, strict=True):
        assert start >= at, "words follow one another"
        text_so_far, at = text_so_far + text[at:start] + text[start:end], end
        if start < end:
            assert label.removeprefix("␣") == visible(text[start:end]).removeprefix("␣")
        else:
            assert label in tokens.labels, "nothing was typed: a token that was added"
    assert text_so_far + text[at:] == text
    for _, (start, end) in words_in(text):
        holders = [place for place in places if place[0] < end and place[1] > start]
        assert len(holders) <= 1, "no word ends inside another"
        assert not holders or (holders[0][0] <= start and end <= holders[0][1])


@pytest.mark.parametrize("kind", ["bytes", "unigram with bytes", "RoBERTa", "raw bytes", "bare", "letters"])
def test_merged_words_equal_own_words(kind):
    """A lossless tokenizer has the same words as "Your words" if no token holds two of them."""
    for name in TEXTS.keys() - {"surrogates", "white space", "marks alone"}:
        tokens = read_text(tokenizer_of(kind), TEXTS[name], 10_000)
        special = {label for label, added in zip(tokens.labels, tokens.special, strict=True) if added}
        merged = [label.strip("␣") for label in word_labels(tokens) if label not in special]
        expected = split_words(TEXTS[name], 10_000).labels
        assert "".join(merged) == "".join(expected), name
        if kind in ("raw bytes", "letters"):
            assert [label for label in merged if label] == list(expected), name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("didn't x", ["didn't", "x"]),
        ("it’s l·l", ["it’s", "l·l"]),
        ("शब्द हिन्दी", ["शब्द", "हिन्दी"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ('צה"ל צה״ל', ['צה"ל', "צה״ל"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),
        ("ක්\u200dෂ බ", ["ක්\u200dෂ", "බ"]),
        ("cafe\u0301 e\u0301", ["cafe\u0301", "e\u0301"]),
        ("한국어 문장", ["한국어", "문장"]),
    ],
)
def test_whole_words_read_as_typed(kind, text, expected):
    tokens = read_text(tokenizer_of(kind), text, 99)
    labels_and_places = zip(word_labels(tokens), places_of_words(tokens), strict=True)
    assert [label.removeprefix("␣") for label, (start, end) in labels_and_places if start < end] == expected


@pytest.mark.parametrize("kind", ["bytes", "raw bytes", "CLIP", "unigram with bytes", "RoBERTa"])
def test_repeated_emoji_are_words_apart(kind):
    tokens = read_text(tokenizer_of(kind), f"😂😂 猫猫坐 {FAMILY}{FAMILY}", 99)
    labels_and_places = zip(word_labels(tokens), places_of_words(tokens), strict=True)
    words = [label.removeprefix("␣") for label, (start, end) in labels_and_places if start < end]
    assert words == ["😂", "😂", "猫", "猫", "坐", FAMILY, FAMILY]


@pytest.mark.parametrize("kind", KINDS)
def test_cut_text_ends_in_cut_word(kind):
    """The last word of a text that is cut inside a word is the part that was read."""
    tokens = read_text(tokenizer_of(kind), "unmisunderstandably animal", 7)
    content = [label for label, added in zip(tokens.labels, tokens.special, strict=True) if not added]
    assert tokens.n_excess
    assert "unmisunderstandably animal".startswith(tokens.text)
    letters = "".join(content).replace("##", "").replace("␣", "").replace("[UNK]", "").replace("<unk>", "")
    assert tokens.text.replace(" ", "").endswith(letters[-1:])


def test_words_of_every_letter_stay_whole():
    """No mark of any script splits its word."""
    marks = [chr(code) for code in range(0x300, 0x16FF0) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    assert len(marks) > 1_400
    assert [hex(ord(mark)) for mark in marks if len(words_in(f"क{mark}क")) != 1] == []


def test_number_words_white_space_stands_alone():
    """Line breaks are words; a single space belongs to what follows; white space cut into bytes is one word."""
    words = number_words(
        "a\n猫 b\u3000c", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (5, 6), (6, 7)], [False] * 8
    )
    assert words[0] == (0, 1, 2, 3, 3, 4, 4, 5)


def test_number_words_tokens_without_text():
    """A piece without text belongs to the next word; an added token is a word."""
    words, spans = number_words("ab c", [(0, 0), (0, 0), (0, 2), (3, 4), (0, 0)], [True, False, False, False, True])
    assert words == (0, 1, 1, 2, 3)
    assert spans == ((0, 0), (0, 0), (0, 2), (3, 4), (4, 4))


def test_words_as_read_keep_unknown():
    """A word is labelled as typed; words as read by the model keep the unknown token."""
    tokens = read_text(tokenizer_of("wordpiece"), "The 猫", 99)
    assert word_labels(tokens) == ("[CLS]", "The", "猫", "[SEP]")
    assert words_as_read(tokens) == ("[CLS]", "the", "[UNK]", "[SEP]")
