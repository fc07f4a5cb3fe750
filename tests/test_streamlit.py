"""`headlight_viz.streamlit` without a browser: what is sent, what a browser may say, and how often a model runs."""

import json

import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests import SAFETY_NET
from viz import streamlit as hl
from viz.components.unpack import unpack
from viz.notebook import maps as maps_module


def pictures():
    import torch

    import viz.streamlit as hl

    torch.manual_seed(0)
    maps = [torch.randn(1, 3, 5, 5).softmax(-1) for _ in range(2)]
    hl.heads(maps, list("abcde"), key="one")
    hl.heads(maps, list("abcde"), key="two", lang="zh")
    assert hl.matrix(maps[0][0, 0], list("abcde"), list("abcde"), key="matrix") is None


def header_of(view):
    data = view.proto.bytes
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])


def test_app_sends_what_is_shown():
    app = AppTest.from_function(pictures, default_timeout=SAFETY_NET).run()
    assert not app.exception
    first, second, matrix = app.get("bidi_component")
    assert header_of(first)["app"]["picked"] == {"stack": "self", "layer": 0, "head": 0, "query": None, "key": None}
    assert header_of(first)["stacks"][0]["axes"]["keys"]["labels"] == list("abcde")
    assert header_of(second)["app"]["words"]["grid"]["show_layer"] == "这一层"
    torch.manual_seed(0)
    header, blocks = unpack(matrix.proto.bytes)
    assert torch.equal(torch.from_numpy(blocks["values"]).view(5, 5), torch.randn(1, 3, 5, 5).softmax(-1)[0, 0])
    assert header["chooses"] and header["words"]["alt"]


def picture(tokens="abcde", n=2):
    return hl._read.__wrapped__(torch.full((n, 1, 3, 5, 5), 0.2), list(tokens), None, None, "en")


@pytest.mark.parametrize(
    "message",
    [
        None, 3, [], {"stack": 1}, {"stack": "none", "layer": 1, "head": 1}, {"stack": "self", "layer": 2, "head": 1},
        {"stack": "self", "layer": 1, "head": 3}, {"stack": "self", "layer": 1}, {"stack": "self", "head": 1},
        {"stack": "self", "layer": True, "head": 1}, {"stack": "self", "layer": 1, "head": 1, "query": 5},
        {"stack": "self", "layer": 1, "head": 1, "key": "x"}, {"stack": "self", "layer": [1], "head": -1},
    ],
    ids=repr,
)  # fmt: skip
def test_misfits_are_ignored(message):
    """A browser may send anything: the first head is chosen then."""
    assert hl._as_picked(picture(), {"picked": message}) == hl.Choice("self", 0, 0)
    fitting = {"stack": "self", "layer": 1, "head": 2, "query": 4, "key": None}
    assert hl._as_picked(picture(), {"picked": fitting}) == hl.Choice("self", 1, 2, 4)


def test_model_reads_text_once(monkeypatch):
    """For all users, until its weights have changed; pictures that are kept are eight at most."""
    texts, read = [], picture()
    monkeypatch.setattr(hl, "read_picture", lambda *arguments, **_: texts.append(arguments[2]) or read)
    hl.forget()
    model, tokenizer = torch.nn.Linear(1, 1), object()
    for text in ("a", "a", "b", *"cdefghij", "a"):
        hl._read(model, tokenizer, text, None, "en")
    assert texts == list("abcdefghija")
    hl.forget()
    hl._read(model, tokenizer, "a", None, "en")
    assert len(texts) == 12


def test_chosen_head_is_whole(monkeypatch):
    """Of many heads small maps are sent, and the chosen one as it is."""
    monkeypatch.setattr(maps_module, "SENT_BYTES", 100)
    large = picture()
    parts = [json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["stacks"][0]["heads"]
             for data in (hl._packed(large, None), hl._packed(large, ("self", 1, 2)))]  # fmt: skip
    assert [[at for at, head in enumerate(heads) if head] for heads in parts] == [[], [5]]


def test_names_are_counted():
    with pytest.raises(ValueError, match=r"values of \(1, 2\) have 2 row names and 2 column names"):
        hl.matrix([[0.5, 0.5]], ["a", "b"], ["a", "b"], key="matrix")
