"""Words that are written from right to left, in sentences and on the axes of figures."""

import pytest

from viz.figures.palette import plain
from viz.text import fill, isolate

FIRST_STRONG, END = "\u2068", "\u2069"


@pytest.mark.parametrize("word", ["שלום", "␣קط", "السجادة", "فارسی", "اُردو", "ܫܠܡܐ", "12% של"])
def test_fill_word_from_right_is_isolated(word):
    """Its marks and its punctuation move nothing of the sentence."""
    assert fill("“{query}” looks most at “{key}”: {n|word|words}", query=word, key="it", n=2) == (
        f"“{FIRST_STRONG}{word}{END}” looks most at “it”: words"
    )


@pytest.mark.parametrize("word", ["it", "猫", "ไทย", "हिन्दी", "1,024", "␣", ""])
def test_isolate_other_word_stays(word):
    """Texts of recorded links have no more characters than before."""
    assert isolate(word) == word


def test_plain_label_from_right_is_isolated():
    """A tick of a figure, its tags escaped."""
    assert plain("<b>של") == f"{FIRST_STRONG}&lt;b&gt;של{END}"
