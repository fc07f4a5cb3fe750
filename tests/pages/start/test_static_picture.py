"""The default sentence as plain HTML and SVG, with the numbers of the file, which test_sentences.py compares."""

import html
import re

import pytest
import torch
from torch.testing import assert_close

from pages.start import static_picture
from pages.start.sentences import WEIGHT_UNITS, pairs
from pages.start.static_picture import LEAST, PICTURES, map_picture, sentence_picture
from tools.start import TWINS
from viz.frame.format import part

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(params=TWINS)
def recorded_sentence(request):
    """The language, the sentence's labels, the whole map and the query's place, as the file has them."""
    pair = pairs()[request.param]
    first = pair["sentences"][0]
    weights, special = torch.tensor(first["weights"]) / WEIGHT_UNITS, torch.tensor(first["special"])
    return request.param, first["labels"], weights, first["labels"].index(pair["query"]), special


def test_sentence_numbers_equal_the_recorded_weights(recorded_sentence):
    """Each word that has a number has its weight, the shade is its root, and the sentence names the largest."""
    lang, labels, weights, query, special = recorded_sentence
    picture = sentence_picture(lang)
    words = re.findall(r"--share: ([\d.]+)%\"><b[^>]*>([^<]*)</b>(?:<small>([^<]*)</small>)?", picture)
    row = weights[query].clone()
    row[query] = 0
    row = row[~special]
    assert [html.unescape(word) for _, word, _ in words] == [
        label for label, is_special in zip(labels, special, strict=True) if not is_special
    ]
    assert [number for *_, number in words] == [part(float(weight)) if weight >= LEAST else "" for weight in row]
    shades = torch.tensor([float(share) / 45 for share, *_ in words])
    assert_close(shades**2, row, atol=2e-3, rtol=0)
    assert part(float(row.max())) in re.search(r'class="note">([^<]*)<', picture)[1]
    assert picture.count("<path") == int((row >= LEAST).sum())


def test_map_opacities_equal_the_recorded_weights(recorded_sentence):
    lang, labels, weights, query, _ = recorded_sentence
    picture = map_picture(lang)
    n, cells = len(labels), re.findall(r'<rect x="(\d+)" y="(\d+)" [^>]*opacity="([\d.]+)"', picture)
    opacities = torch.zeros(n, n)
    for column, row, opacity in cells:
        opacities[int(row), int(column)] = float(opacity) ** 2
    assert len(cells) == n * n
    assert_close(opacities, weights, atol=2e-3, rtol=0)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    assert [html.unescape(text) for text in texts] == labels * 2
    assert f'class="chosen" x="0" y="{query}"' in picture


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_escape_tokens(monkeypatch, name):
    pair = pairs()["en"]
    first = {
        **pair["sentences"][0],
        "labels": [HOSTILE if label == "animal" else label for label in pair["sentences"][0]["labels"]],
    }
    monkeypatch.setattr(static_picture, "pairs", lambda: {"en": {**pair, "sentences": [first]}})
    picture = PICTURES[name]("en")
    assert HOSTILE not in picture and "&lt;img" in picture
