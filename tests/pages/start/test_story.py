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
from pages.start.record import record_stories
from pages.start.sentences import pairs
from tests.packaged import packaged_file
from tests.pages.start.test_page import SENTENCE, view_payload
from viz.frame import compute, specs
from viz.models import registry
from viz.models.capture import capture
from viz.models.load import load
from viz.text import LANGUAGES

ARABIC = "القطة تجلس على الحصير"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_story_file_equals_models(lang):
    """Values add up to the head's output, pixels are roots of weights, and next words are the decoder's."""
    pair = pairs()[lang]
    if pair["model"] != registry.entries()[0].id:
        packaged_file(pair["model"])
    packaged_file(registry.SMALL_DECODER)
    for sentence, stored, now in zip(pair["sentences"], story.recorded()[lang], record_stories(pair), strict=True):
        read = capture(load(pair["model"]), sentence["text"])
        trace = read.layer(pair["layer"])
        values = torch.tensor(stored["values"]) / numbers.VALUE_UNITS
        handed_on = trace.weights[pair["head"]] @ values
        assert_close(handed_on, trace.output[pair["head"]], atol=2 / numbers.VALUE_UNITS, rtol=0)
        sheet = opacities(stored["maps"]).reshape(stored["layers"], stored["cell"], -1)
        n, cell = len(sentence["labels"]), stored["cell"]
        for layer in range(stored["layers"]):
            maps = sheet[layer].reshape(cell, stored["heads"], cell).transpose(0, 1)[:, :n, :n] / 255
            assert_close(maps, read.layer(layer).weights.sqrt(), atol=0.6 / (numbers.N_SHADES - 1), rtol=0)
        assert (stored["next"] is None) == (now["next"] is None)
        if now["next"]:
            assert stored["next"]["words"] == now["next"]["words"] and stored["next"]["prompt"] == now["next"]["prompt"]
            assert_close(stored["next"]["shares"], now["next"]["shares"], atol=2e-4, rtol=0)


def opacities(address):
    """The opacities of a picture's pixels."""
    return torch.from_numpy(np.array(Image.open(BytesIO(b64decode(address.partition(",")[2]))).getchannel("A")))


@pytest.mark.parametrize(("here", "written"), [(True, "warm"), (False, None)])
def test_own_sentence_goes_on(open_app, monkeypatch, here, written):
    """Nothing is computed before the browser asks; without a decoder the page says so."""
    monkeypatch.setattr(numbers, "is_here", lambda _: here)
    monkeypatch.setattr(numbers, "SMALL_DECODER", "twin-g8")
    app = open_app(FIRST, sentence=SENTENCE)
    assert view_payload(app, "story")["stories"] == []
    app.session_state[story.KEY] = {"asked": {"value": True, "sent": 1}}
    app.run()
    (told,) = view_payload(app, "story")["stories"]
    assert told["text"] == SENTENCE and len(told["values"]) == len(told["labels"]) and told["writes"] == here
    assert (told["next"] or {}).get("written") == written
    assert f"model={told['next']['model']}" in told["links"]["next"] if here else told["next"] is None


def test_next_words_end_at_last_word():
    """In place of a finished sentence's last word; after an open one; not in a script that is read as bytes."""
    decoder = load("twin-g8")
    finished, is_open = (numbers.next_words(decoder, f"the cat saw a red bird{end}") for end in (".", ""))
    assert (finished["prompt"], finished["written"]) == ("the cat saw a red", "bird")
    assert (is_open["prompt"], is_open["written"], is_open["share"]) == ("the cat saw a red bird", "", 0.0)
    assert finished["share"] <= finished["shares"][0] == max(finished["shares"])


def test_unknown_script_has_other_model():
    packaged_file(pairs()["zh"]["model"])
    assert numbers.head_for(ARABIC)["model"] == pairs()["zh"]["model"]
    assert numbers.head_for("Der Hund schläft.")["model"] == pairs()["en"]["model"]


def test_own_model_reads_the_example(open_app, monkeypatch):
    """The model of the command line, with its head of the strongest tie between words that are no neighbours."""
    entry = registry.entries()[0]
    monkeypatch.setattr("sys.argv", ["app.py", "--model", "folder"])
    monkeypatch.setattr(numbers, "local_entries", lambda: [entry])
    visible = view_payload(open_app(FIRST), "arcs")
    text = pairs()["en"]["sentences"][0]["text"]
    assert visible["sentences"][0]["text"] == text and visible["made"] == "" and visible["example"]
    read = compute.read(specs.Source(kind="model", text=text, model=entry.id))
    place = (visible["layer"], visible["head"])
    assert place == numbers.farthest_head(numbers.source_of(text, entry.id))
    far = [(query, key) for query in range(1, 14) for key in range(1, 14) if abs(query - key) > 1]
    strongest = {
        (layer, head): max(float(weights[query, key]) for query, key in far)
        for layer in range(read.n_layers)
        for head, weights in enumerate(read.layer(layer).weights)
    }
    assert place == max(strongest, key=strongest.__getitem__)
