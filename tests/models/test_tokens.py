"""Any text becomes tokens whose labels show every character, act on nothing, and can be counted."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import pytest
import torch
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from torch.testing import assert_close
from transformers import PreTrainedTokenizerFast

from tests.checkpoints import TEXT, open_folder
from tests.models.conftest import Checkpoint, FamilyLoader
from viz.models import ModelError
from viz.models.spelling.pieces import spells_bytes
from viz.models.spelling.visible import visible
from viz.models.tokens import guesses, labels, read_text, seeded_embeddings, split_words, word_token

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
HOSTILE = "<b>hi</b> <img src=x onerror=alert(1)> ![x](http://a.b/c) $x^2$ #000001 &amp; `x` \u202eabc\x00\x07"


def words(text: str) -> list[str]:
    return list(split_words(text, 10_000).labels)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It didn't rain.", ["It", "didn't", "rain", "."]),
        ("can’t x_y 3.14", ["can’t", "x_y", "3", ".", "14"]),
        ("今天下雨了。", ["今", "天", "下", "雨", "了", "。"]),
        ("GPT在北京", ["GPT", "在", "北", "京"]),
        ("ひらカナ", ["ひ", "ら", "カ", "ナ"]),
        ("한국어 문장", ["한국어", "문장"]),
        (f"a {FAMILY} b", ["a", FAMILY, "b"]),
        ("\u2764\ufe0f 1\ufe0f\u20e3 \U0001f1eb\U0001f1f7", ["\u2764\ufe0f", "1\ufe0f\u20e3", "\U0001f1eb\U0001f1f7"]),
        ("cafe\u0301 e\u0301", ["cafe\u0301", "e\u0301"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("<b>", ["<", "b", ">"]),
        ("![x](http://a)", ["!", "[", "x", "]", "(", "http", ":", "/", "/", "a", ")"]),
        ("  a \n\t b  ", ["a", "b"]),
        ("a\u00a0b\u3000c", ["a", "b", "c"]),
        ("\U0001fae8", ["\U0001fae8"]),
        ("か\u3099っ", ["か\u3099", "っ"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("col·legi", ["col·legi"]),
        ("ក្រុង ខ្មែរ", ["ក្រុង", "ខ្មែរ"]),
        ("\u1112\u1161\u11ab", ["\u1112\u1161\u11ab"]),
        ("\ud800a", ["?", "a"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("a\tb\nc", "a⇥b↵c"), ("\x00", "⟨0000⟩"), ("\u3164", "⟨3164⟩")])
def test_visible(text, expected):
    assert visible(text) == expected


def test_every_bmp_character_is_visible():
    for code in range(0x10000):
        label = visible(chr(code))
        assert label
        assert not all(unicodedata.category(character)[0] in "CZM" for character in label), f"{code:04X}"


def test_long_texts_are_cut_and_counted():
    tokens = split_words("a b, " * 2_000, 512)
    assert len(tokens.ids) == len(tokens.labels) == len(tokens.words) == len(tokens.special) == 512
    assert tokens.n_excess == 6_000 - 512
    assert split_words("a b c", 3).n_excess == 0


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text(text, load_family):
    for read in (lambda: split_words(text, 7), lambda: read_text(load_family("bert").tokenizer, text, 7)):
        with pytest.raises(ModelError) as exc_info:
            read()
        assert exc_info.value.code == "empty"


def test_equal_words_are_equal_tokens():
    ids = split_words("The the THE cat", 10).ids
    assert ids[0] == ids[1] == ids[2] != ids[3]


def test_seeded_embeddings_depend_on_word_seed():
    ids = split_words("the cat the", 10).ids
    x = seeded_embeddings(ids, 7, 0)
    assert x.shape == (3, 7)
    assert_close(x[0], x[2], atol=0, rtol=0)
    assert_close(x, seeded_embeddings(ids, 7, 0), atol=0, rtol=0)
    assert (x[0] - x[1]).abs().max() > 0.1
    for seed in (1, 2, 9_999):
        assert (x - seeded_embeddings(ids, 7, seed)).abs().amax(-1).min() > 0.1


def test_seeded_embeddings_are_normal_numbers():
    x = seeded_embeddings(tuple(range(500)), 101, 3)
    assert_close(x.mean(), torch.tensor(0.0), atol=0.02, rtol=0)
    assert_close(x.std(), torch.tensor(1.0), atol=0.02, rtol=0)
    # Vectors of two words are independent: their cosine is small.
    cosines = torch.corrcoef(x) - torch.eye(500)
    assert cosines.std() < 1.1 / 101**0.5


def test_seeded_embeddings_keep_global_seed():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    seeded_embeddings((1, 2), 5, 0)
    assert_close(torch.rand(3), expected)


def test_wordpiece(load_family):
    tokens = read_text(load_family("bert").tokenizer, "Because it tired.", 61)
    assert tokens.labels[0] == "[CLS]" and tokens.labels[-1] == "[SEP]"
    assert "".join(tokens.labels[1:-1]).replace("##", "") == "becauseittired."
    assert tokens.special == (True, *[False] * (len(tokens.ids) - 2), True)
    pieces = [i for i, label in enumerate(tokens.labels) if label.startswith("##")]
    assert pieces
    assert all(tokens.words[i] == tokens.words[i - 1] for i in pieces)
    assert tokens.words[-1] == 5


def test_truncation_keeps_the_special_tokens(load_family):
    full = read_text(load_family("bert").tokenizer, TEXT, 61)
    cut = read_text(load_family("bert").tokenizer, TEXT, 7)
    assert len(cut.ids) == 7
    assert (cut.ids[:6], cut.ids[6]) == (full.ids[:6], full.ids[-1])
    assert cut.n_excess == len(full.ids) - 7
    # At least one token of the text is read.
    assert len(read_text(load_family("bert").tokenizer, TEXT, 1).ids) == 3


def test_split_words_flags_cut_as_characters():
    """Flags are cut by a rule of their own, which takes linear time: the same characters as Unicode's rule finds."""
    character = pre_tokenizers.Split(Regex(r"(?!\s)\X"), behavior="removed", invert=True)
    parts = ("🇩", "🇪", "🇩🇪", "\u200d", "\ufe0f", "\u0301", "\u20e3", "\u200c", "🏽", "👩", "❤")
    chance = Random(0)
    for _ in range(300):
        text = "🇩" + "".join(chance.choices(parts, k=chance.randint(1, 9)))
        assert split_words(text, 61).labels == tuple(visible(part) for part, _ in character.pre_tokenize_str(text))
    assert len(split_words("🇩🇪" * 500, 1_009).ids) == 500, "of a long text of flags the other rule took 26 s"


def test_hostile_labels_contain_every_character(load_family):
    joined_labels = "".join(read_text(load_family("gpt2").tokenizer, HOSTILE, 400).labels)
    assert "<b>hi</b>␣<img␣src=x␣onerror=alert(1)>␣![x](http://a.b/c)" in joined_labels
    assert not any(unicodedata.category(character) in ("Cc", "Cf") for character in joined_labels)


@pytest.mark.parametrize("text", [HOSTILE, "\ud800 a", "שלום مرحبا", FAMILY, "\u0301", "\ufeff\u200b", "a" * 3_000])
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
def test_any_text_is_read_or_refused(load_family, name, text):
    try:
        tokens = read_text(load_family(name).tokenizer, text, 61)
    except ModelError as error:
        assert error.code == "empty"
        return
    assert len(tokens.ids) == len(tokens.labels) == len(tokens.words) == len(tokens.special) <= 61
    assert all(tokens.labels)
    assert [b - a for a, b in zip(tokens.words, tokens.words[1:], strict=False) if b - a not in (0, 1)] == []


def test_guesses_without_letters_have_names(load_family):
    """Rows of the model's table without a token have names."""
    assert (
        guesses(load_family("gpt2").tokenizer, [10_000])
        == labels(load_family("gpt2").tokenizer, [10_000])
        == ("⟨10000⟩",)
    )


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_first_tokenizer_use_is_thread_safe(name, checkpoint: Checkpoint, load_family: FamilyLoader):
    """Saved with truncation and padding on (as the default model's is), it switches both off at its first use."""
    texts = [f"{TEXT} {i} " * 20 for i in range(8)]
    expected = [read_text(load_family(name).tokenizer, text, 500) for text in texts]
    for _ in range(2):
        tokenizer = open_folder(checkpoint(name)).tokenizer
        start = Barrier(len(texts))

        def visit(text, tokenizer=tokenizer, start=start):
            start.wait()
            return [read_text(tokenizer, text, 500) for _ in range(3)]

        with ThreadPoolExecutor(len(texts)) as pool:
            for expected_ids, actual_ids in zip(expected, pool.map(visit, texts), strict=True):
                assert all(tokens == expected_ids for tokens in actual_ids)


def test_byte_spelling_tokenizers(load_family):
    spelled = {name: spells_bytes(load_family(name).tokenizer) for name in ("gpt2", "bert", "t5", "llama")}
    assert spelled["gpt2"] and not spelled["bert"] and not spelled["t5"]
    # XLM-R's has a piece Ġ, too.
    tokenizer = Tokenizer(WordLevel({"Ġ": 0, "▁": 1, "[UNK]": 2}, unk_token="[UNK]"))
    assert not spells_bytes(PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]"))


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral"])
def test_next_word_is_token_inside_text(load_family, name):
    """With the space before it where the vocabulary has it so, however it is typed."""
    tokenizer = load_family(name).tokenizer
    inside = tokenizer.encode("cross the", add_special_tokens=False)[-1]
    assert labels(tokenizer, [inside])[0].strip("␣") == "the"
    assert {word_token(tokenizer, word) for word in ("the", " the", "␣the")} == {inside}


def test_no_word_has_no_token(load_family):
    tokenizer = load_family("gpt2").tokenizer
    assert {word_token(tokenizer, word) for word in ("", "  ", "␣")} == {None}
    assert word_token(tokenizer, "\ud800") == word_token(tokenizer, "?")
    assert word_token(tokenizer, "thexyz") == word_token(tokenizer, "the"), "of a longer word, its first piece"
