"""The corpus: its size, its language, a source for every part, and no duplicates."""

import pytest

from viz.models.atlas.corpus import LANGUAGES, LONGEST, digest, parts, read_lines, sentences


@pytest.mark.parametrize("lang", LANGUAGES)
def test_language_has_200_sourced_sentences(lang):
    lines = sentences(lang)
    assert len(lines) >= 200 and len(set(lines)) == len(lines)
    assert all(line == line.strip() and 3 <= len(line) <= 200 for line in lines)
    assert all(part.source and part.lines for part in parts(lang))
    ours = sum(len(part.lines) for part in parts(lang) if part.source.startswith(("this project's own", "本项目自撰")))
    assert ours >= 100, "most are of our own time"
    chinese = sum(any("\u4e00" <= letter <= "\u9fff" for letter in line) for line in lines)
    assert chinese == (len(lines) if lang == "zh" else 0)


def test_no_sentence_is_cut(minilm):
    texts = read_lines(minilm, sentences("en"))
    assert max(len(text.ids) for text in texts) < LONGEST
    assert not any((text.ids == minilm.tokenizer.unk_token_id).any() for text in texts)
    assert sum(bool(text.marks.any()) for text in texts) > 190


def test_other_corpus_has_other_digest():
    assert digest(["a", "b"]) != digest(["ab"]) != digest(["b", "a"])


def test_language_without_corpus_is_refused():
    with pytest.raises(ValueError, match="'fr'"):
        parts("fr")
