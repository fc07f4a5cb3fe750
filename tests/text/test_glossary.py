"""The terms of the field as data: both languages, links that lead somewhere, and where a sentence has which."""

import re
from urllib.parse import parse_qsl

import pytest

from tests.sections import SECTIONS
from tests.text.test_wording import CODE, texts
from viz.text import LANGUAGES, has_text
from viz.text.glossary import found_in, terms

TERMS = terms().values()
ONLY_LOOKED_UP = {"pooling", "mhsa", "split", "autoregressive", "complexity", "window", "weight_sharing"}
"""Words of courses that no sentence of the app needs: the search answers to them."""


def match_terms(sentence, lang="en"):
    return [term.code for term, _, _ in found_in(sentence, lang)]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_terms_have_unique_names(lang):
    """Every term has one sentence and a name that no other term has."""
    names = [term.names[lang] for term in TERMS]
    assert len(set(names)) == len(names)
    for term in TERMS:
        sentence = term.says[lang]
        assert sentence.endswith("." if lang == "en" else "。"), term.code
        assert len(sentence) <= (200 if lang == "en" else 80), (
            f"{term.code}: {len(sentence)} characters are no plain sentence"
        )
        assert not set("*`$<{") & set(sentence + term.names[lang]), f"{term.code}: shown as it stands"


def test_themes_have_titles_and_group_terms():
    """Every theme has a title, and its terms stand together."""
    themes = [term.theme for term in TERMS]
    assert all(has_text(f"glossary.theme_{theme}") for theme in themes)
    assert themes == sorted(themes, key=list(dict.fromkeys(themes)).index)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.code)
def test_links_lead_to_sections(term):
    page, section, rest = term.place
    assert (page, section) in SECTIONS
    assert "section" not in dict(parse_qsl(rest, strict_parsing=True)) if rest else True


@pytest.mark.parametrize("lang", LANGUAGES)
def test_terms_stand_in_texts(lang):
    """Every term stands in some text under its own name."""
    used = {
        code
        for file, _, text in texts(lang)
        if file.endswith(f"/{lang}.toml")
        for code in match_terms(CODE.sub("", text), lang)
    }
    assert [term.code for term in TERMS if term.code not in used | ONLY_LOOKED_UP] == []
    alone = {term.code for term in TERMS if term.code in match_terms(term.names[lang], lang)}
    assert {term.code for term in TERMS} - alone <= {"value", "layer"}, "which alone may mean anything"


@pytest.mark.parametrize(
    ("lang", "sentence", "expected"),
    [
        ("en", "Attention heads share keys and values; a score becomes a weight.", "head key value score weight"),
        ("en", "The causal mask, not the mask, and self-attention.", "causal_mask mask self_attention"),
        ("en", "Four weight matrices, the same weights in every layer: layers share their weights.", "layer layer"),
        ("en", "Use the arrow keys: the usual value is shown. Every key/value head counts.", ""),
        ("en", "A tokenizer, a headline, a maskless layered thing, keyboard.", "tokenizer"),
        ("en", "The vocabulary head, the head that belongs at the end, and heads.", "vocabulary_head head"),
        ("zh", "词表头与头。", "vocabulary_head head"),
        ("zh", "因果掩码之外的掩码，自注意力，注意力权重。", "causal_mask mask self_attention weight"),
        ("zh", "按 → 键或方向键，箭头在转，数值不变，共享权重矩阵。", ""),
        ("zh", "查询、键、值都相同；查询头和键/值头。", "query key value head"),
    ],
)  # fmt: skip
def test_terms_are_matched_in_texts(lang, sentence, expected):
    assert match_terms(sentence, lang) == expected.split()


def test_patterns_hold_no_groups():
    """The group of a match is the term's code."""
    assert not [term.code for term in TERMS for way in term.found.values() if re.compile(way).groups]
