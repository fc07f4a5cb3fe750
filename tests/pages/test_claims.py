"""Numbers and claims in fixed sentences of pages, each compared with what it counts."""

import re

from viz.core.long.shapes import CLOSE
from viz.frame.examples import minimal_pairs
from viz.lessons.lesson_file import lesson_named
from viz.models.atlas.corpus import LENGTH, SEQUENCES
from viz.models.atlas.corpus import sentences as lines
from viz.text import LANGUAGES, sentences


def test_numbers_in_fixed_sentences_are_counted():
    """Numbers written in sentences, each compared with its count."""
    first = lesson_named("attention_from_nothing")
    assert (len(first.steps), first.minutes) == (10, 13)
    en, zh = sentences("en"), sentences("zh")
    assert "ten questions in thirteen minutes" in en["start.new_says"]
    assert "十三分钟，十个问题" in zh["start.new_says"]
    assert (SEQUENCES, LENGTH) == (16, 24) and (CLOSE, len(minimal_pairs())) == (0.05, 10)
    for lang, sentence_texts in (("en", en), ("zh", zh)):
        assert (
            f"{SEQUENCES} " in sentence_texts["atlas.corpus_note"]
            and f" {LENGTH} " in sentence_texts["atlas.corpus_note"]
        )
        assert {str(len(lines(code))) in sentence_texts[f"atlas.corpus_{code}"] for code in LANGUAGES} == {True}, lang
        assert re.search("5 points|5 个百分点", sentence_texts["long_text.wall.why"])
        assert re.search("ten pairs|十对", sentence_texts["many_heads.logic.run"])
        assert re.search("Twenty sentences|二十个句子", sentence_texts["many_heads.logic.help"])
