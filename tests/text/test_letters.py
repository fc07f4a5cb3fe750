"""The letters of formulas in other books: each is found where it stands, and only there."""

import pytest

from pages import PAGES
from pages.atlas.head_map import LABEL
from pages.block import formulas as of_the_block
from pages.convolution.slips import choice as slips
from pages.long_text.wall import SHARE
from pages.step_by_step.three_words import FORMULAS as OF_THREE_WORDS
from pages.two_sequences.cross_attention import CROSS_ATTENTION
from pages.two_sequences.scoring import FORMULAS as OF_SCORING
from tests.sections import page_named, views_of
from viz.text import LANGUAGES
from viz.text.letters import BOOKS, letters, letters_in

SELF_DRAWN = {
    ("atlas", "map"): LABEL,
    ("step_by_step", "three_words"): " ".join(OF_THREE_WORDS.values()),
    ("two_sequences", "cross_attention"): CROSS_ATTENTION,
    ("two_sequences", "scoring"): " ".join(OF_SCORING.values()),
    ("block", "diagram"): " ".join(
        [of_the_block.HEAD, *of_the_block.SUBLAYERS.values(), *of_the_block.INPUTS.values()]
    ),
    ("convolution", "slips"): " ".join(module.FORMULA for module in slips.SLIPS.values()),
    ("long_text", "wall"): SHARE,
}
"""The LaTeX of sections that draw their formula themselves."""


def formulas():
    """Page, section, and its LaTeX."""
    for page in PAGES:
        for name, section in {
            view.name: view for section_ in page_named(page).sections for view in section_.views or (section_,)
        }.items():
            yield page, name, SELF_DRAWN.get((page, name), section.formula if isinstance(section.formula, str) else "")


def test_by_hand():
    letters = {
        letter.ours: letter.elsewhere for letter in letters_in(r"Q = X W_Q / \sqrt{d_k}", "step_by_step", "steps")
    }
    assert list(letters) == ["X", "W_Q", "Q", "d_k"]
    assert letters["d_k"] == {"d2l": "p_q = p_k", "vaswani": "d_k"}
    assert letters["Q"]["vaswani"] == "Q W_i^Q", "what Vaswani et al. call Q is X here"


@pytest.mark.parametrize(
    ("latex", "page", "section"),
    [
        (r"\begin{aligned} \text{A query H, and X} \end{aligned}", "step_by_step", "steps"),
        (r"\operatorname{softmax}(u) \cdot \Delta", "next_word", "swap"),  # a difference there, no head's centre
        (r"S_l = M_l \lor I", "stacking", "receptive_field"),  # no scores
        (r"\frac1Q \sum_i \hat A_l", "many_heads", "experts"),  # how many queries; a mixture of weights
        (r"k\,n\,d^2", "cost", "growth"),  # a kernel's size
        (r"p_{i+k} \cdot \cos k \omega_j", "positions", "step"),  # a number of places
    ],
)
def test_lookalikes_are_no_letters(latex, page, section):
    assert letters_in(latex, page, section) == []


def test_letters_stand_in_formulas():
    used = {id(letter) for page, section, latex in formulas() for letter in letters_in(latex, page, section)}
    assert [letter.ours for letter in letters() if id(letter) not in used] == []


def test_places_exist():
    places = {*PAGES} | {f"{page}/{view}" for page in PAGES for view in views_of(page)}
    assert {place for letter in letters() for place in letter.places} <= places


def test_letter_has_one_meaning_per_formula():
    for page, section, latex in formulas():
        letters = [letter.ours for letter in letters_in(latex, page, section)]
        assert len(set(letters)) == len(letters), (page, section)


def test_letters_are_explained_in_every_language():
    """Every letter is explained in every language, briefly enough for a table."""
    for letter in letters():
        assert letter.elsewhere and letter.elsewhere.keys() <= BOOKS.keys()
        assert all(letter.means[lang].strip() for lang in LANGUAGES)
        assert not any("|" in text for text in (letter.ours, *letter.elsewhere.values(), *letter.means.values()))
