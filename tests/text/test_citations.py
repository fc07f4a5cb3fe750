"""Sources of published sizes, in both languages."""

import re

import pytest

from viz.models.presets import presets
from viz.text.citations import translate_source

SOURCES = sorted({preset.source for preset in presets()})


@pytest.mark.parametrize("source", SOURCES)
def test_chinese_source_has_no_english_word(source):
    """Names of people, models and files stay, and so does every number."""
    translated = translate_source("zh", source)
    assert not re.search(r"\b(et al|table|sec|of|by|trained|Team)\b|[;,] ", translated)
    assert sorted(re.findall(r"\d+", translated)) == sorted(re.findall(r"\d+", source))


def test_source_in_english_stays():
    assert [translate_source("en", source) for source in SOURCES] == SOURCES
