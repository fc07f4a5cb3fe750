"""Below the arcs: the numbers on file are the models', and those of an own sentence come when they are asked for."""

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from pages import FIRST
from pages.start import numbers, story
from pages.start.sentences import pairs
from tests.packaged import packaged_file
from tests.pages.start.test_page import SENTENCE, view_payload
from tools.start import record_stories
from viz.frame import compute, specs
from viz.models import registry
from viz.models.capture import capture
from viz.models.load import load
from viz.text import LANGUAGES

ARABIC = "القطة تجلس على الحصير"


@pytest.mark.fast("en")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_story_file_equals_models(lang):
    """Values add up to the head's output, pixels are roots of weights, and next words are the decoder's."""
    pair = pairs()[lang]
    if pair["model"] != registry.entries()[0].id:
        packaged_file(pair["model"])
    packaged_file(registry.SMALL_DECODER)
    for sentence, entry, now in zip(
        pair["sentences"], story.stories_on_file()[lang], record_stories(pair), strict=True
    ):
        read = capture(load(pair["model"]), sentence["text"])
        trace = read.layer(pair["layer"])
        values = torch.tensor(entry["values"]) / numbers.VALUE_UNITS
        handed_on = trace.weights[pair["head"]] @ values
        assert_close(handed_on, trace.output[pair["head"]], atol=2 / numbers.VALUE_UNITS, rtol=0)
        sheet = opacities(entry["maps"]).reshape(entry["layers"], entry["cell"], -1)
        n, cell = len(sentence["labels"]), entry["cell"]
        for layer in range(entry["layers"]):
            maps = sheet[layer].reshape(cell, entry["heads"], cell).transpose(0, 1)[:, :n, :n] / 255
            assert_close(maps, read.layer(layer).weights.sqrt(), atol=0.6 / (numbers.N_SHADES - 1), rtol=0)
        assert (entry["next"] is None) == (now["next"] is None)
        if now["next"]:
            assert entry["next"]["words"] == now["next"]["words"] and entry["next"]["prompt"] == now["next"]["prompt"]
            assert_close(entry["next"]["shares"], now["next"]["shares"], atol=2e-4, rtol=0)


def opacities(address):
    """The opacities of a picture's pixels."""
    return torch.from_numpy(np.array(Image.open(BytesIO(b64decode(address.partition(",")[2]))).getchannel("A")))


@pytest.mark.parametrize(("has_decoder", "last_word"), [(True, "warm"), (False, None)])
def test_own_sentence_goes_on(open_app, monkeypatch, has_decoder, last_word):
    """Nothing is computed before the browser asks; without a decoder the page says so."""
    monkeypatch.setattr(numbers, "is_here", lambda _: has_decoder)
    monkeypatch.setattr(numbers, "SMALL_DECODER", "twin-g8")
    app = open_app(FIRST, sentence=SENTENCE)
    assert view_payload(app, "story")["stories"] == []
    app.session_state[story.KEY] = {"asked": {"value": True, "sent": 1}}
    app.run()
    (data,) = view_payload(app, "story")["stories"]
    assert data["text"] == SENTENCE and len(data["values"]) == len(data["labels"]) and data["writes"] == has_decoder
    assert (data["next"] or {}).get("last_word") == last_word
    assert f"model={data['next']['model']}" in data["links"]["next"] if has_decoder else data["next"] is None


def test_next_words_end_at_last_word():
    """In place of a finished sentence's last word; after an open one; not in a script that is read as bytes."""
    decoder = load("twin-g8")
    finished, is_open = (numbers.next_words(decoder, f"the cat saw a red bird{end}") for end in (".", ""))
    assert (finished["prompt"], finished["last_word"]) == ("the cat saw a red", "bird")
    assert (is_open["prompt"], is_open["last_word"], is_open["share"]) == ("the cat saw a red bird", "", 0.0)
    long = numbers.next_words(decoder, "the cat saw a red bird . " * 20 + "the dog ran.")
    assert long["prompt"].count("bird") == 9 and long["last_word"] == "", "what it went on from, not the whole text"
    assert finished["share"] <= finished["shares"][0] == max(finished["shares"])


def test_unknown_script_has_other_model():
    packaged_file(pairs()["zh"]["model"])
    assert numbers.head_for(ARABIC)["model"] == pairs()["zh"]["model"]
    assert numbers.head_for("Der Hund schläft.")["model"] == pairs()["en"]["model"]


def test_own_model_reads_the_example(open_app, monkeypatch):
    """The model of the command line, with its head of the strongest tie between words that are no neighbours."""
    first_model = registry.entries()[0]
    monkeypatch.setattr("sys.argv", ["app.py", "--model", "folder"])
    monkeypatch.setattr(numbers, "local_entries", lambda: [first_model])
    visible = view_payload(open_app(FIRST), "arcs")
    text = pairs()["en"]["sentences"][0]["text"]
    assert visible["sentences"][0]["text"] == text and visible["made"] == "" and visible["example"]
    read = compute.read(specs.Source(kind="model", text=text, model=first_model.id))
    place = (visible["layer"], visible["head"])
    assert place == numbers.farthest_head(numbers.source_of(text, first_model.id))
    word_places = [key for key in range(1, 14) if read.tokens.labels[key] not in ("didn", "'", "t", ".")]
    far = [(query, key) for query in word_places for key in word_places if abs(query - key) > 1]
    strongest = {
        (layer, head): max(float(weights[query, key]) for query, key in far)
        for layer in range(read.n_layers)
        for head, weights in enumerate(read.layer(layer).weights)
    }
    assert place == max(strongest, key=strongest.__getitem__)
