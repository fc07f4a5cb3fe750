"""Text of the page and its limits, the view data, and a stopped pass."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import streamlit as st
import torch
from torch.testing import assert_close

from pages.long_text import context, texts
from pages.long_text.compute import LongText
from pages.long_text.pack import LOWEST, around, log_codes
from pages.long_text.rows import POINTS, averaged
from tests.running import link_of
from viz import limits
from viz.core.long.shapes import SHORTEST
from viz.frame import compute
from viz.frame.compute import long_texts
from viz.frame.queue_notice import stores
from viz.frame.specs import Source
from viz.models.registry import SMALL_DECODER
from viz.models.tokens import split_words
from viz.text import LANGUAGES, sentences, translator

T = translator("en")
WORDS = {"source": "words", "text": "one two three", "d_model": 8, "n_heads": 2}


def page_sentences(app):
    return " ".join(caption.value for caption in app.caption)


def test_log_codes_precision():
    weights = torch.logspace(-6, 0, 997)
    codes = log_codes(weights).double()
    back = 10 ** ((1 - (codes - 1) / 65_534) * torch.tensor(LOWEST).double().log10())
    assert_close(back, weights.double(), rtol=1.2e-4, atol=0)
    assert log_codes(torch.tensor([0.0, 1e-9])).tolist() == [0, 0]


def test_around_keeps_text_spacing():
    assert around(split_words("It's a dog, 下雨 now.", 20), 2) == ("It's a", ", 下雨 now")
    assert around(split_words("בֹּא  a\nbig 猫。", 20), 2) == ("בֹּא  a↵", " 猫。")


@pytest.mark.parametrize("n", [1, POINTS, POINTS + 1, 1000])
def test_averaged_curve_points_and_means(n):
    values = torch.rand(n, generator=torch.Generator().manual_seed(n))
    at, means = averaged(values)
    assert len(at) == len(means) <= POINTS
    assert at == sorted(at) and at[-1] <= n - 1
    side = -(-n // POINTS)
    assert_close(means[0], values[:side].mean())
    assert_close(means[-1], values[(len(at) - 1) * side :].mean())


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"a" * (limits.LONG_BYTES + 1), "large"), (b"\xff\xfe1", "binary"), (b"a\0b", "binary"), (b" \n", "blank")],
)
def test_decode_binary_file_error(data, code):
    with pytest.raises(texts.FileError) as refusal:
        texts.decode(data)
    assert refusal.value.code == code
    assert all(f"long_text.file_{code}" in sentences(lang) for lang in LANGUAGES)


def test_uploaded_file_replaces_text(open_app, monkeypatch):
    """Read an uploaded file instead of the box; its text stays out of the link."""
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: None)  # it would own the key
    app = open_app("long_text", **WORDS, long_from="file")
    assert T("long_text.file_none") in page_sentences(app)
    assert "3 tokens were read" in page_sentences(app)
    app.session_state["_long_file"] = SimpleNamespace(getvalue="\ufeffvier fünf sechs sieben".encode)
    app.run()
    assert "4 tokens were read" in page_sentences(app)
    assert T("long_text.not_in_link") in page_sentences(app)
    assert not {"_long_file", "fünf"} & {*link_of(app), *link_of(app).values()}
    assert "read as" not in page_sentences(app)
    app.session_state["_long_file"] = SimpleNamespace(getvalue=lambda: "Le café était fermé".encode("utf-16"))
    app.run()
    assert "4 tokens were read" in page_sentences(app)
    assert T("long_text.file_encoding", encoding="UTF-16") in page_sentences(app)
    app.session_state["_long_file"] = SimpleNamespace(getvalue=lambda: b"\xff")
    app.run()
    assert [box.value for box in app.error] == [T("long_text.file_binary")]


def test_repeats_and_limit_in_link(open_app):
    app = open_app("long_text", **WORDS | {"text": "one two three " * 100}, long_times=4, long_tokens=512)
    assert "512 tokens were read" in page_sentences(app)
    assert T("long_text.left_out", n=688) in page_sentences(app)
    assert {"long_times": "4", "long_tokens": "512"}.items() <= link_of(app).items()


def test_most_tokens_on_public_server(monkeypatch):
    assert long_texts.most_tokens() == 32_768
    monkeypatch.setattr(stores().memory, "most", lambda: 1e9)
    assert long_texts.most_tokens() == limits.TOKENS
    monkeypatch.setattr(limits, "LONG_TOKENS", 4096)
    assert long_texts.most_tokens() == 4096


def test_longer_model_offered_within_limit(open_app, monkeypatch):
    monkeypatch.setattr(context, "models_here", lambda: {SMALL_DECODER})
    offered = open_app("long_text").button(key="long_take")
    assert offered.label == T("long_text.take", model=SMALL_DECODER)
    monkeypatch.setattr(limits, "LONG_TOKENS", 512)  # as on a public server: that model would read no more there
    app = open_app("long_text")
    assert "512 tokens were read" in page_sentences(app)
    assert "long_take" not in [button.key for button in app.button]


def test_short_text_warned_once(open_app):
    app = open_app("long_text", text="这只动物没过马路，因为它太累了。", section="all")
    assert len(app.warning) == 1, "the scene reads its beginning only, and says nothing of it"
    assert T("long_text.short", least=SHORTEST, n=18) in [element.value for element in app.markdown]
    assert T("long_text.rows_found", side=1) in [element.value for element in app.markdown]


@pytest.mark.parametrize(("repeats", "rows"), [(100, 256), (10, 30)])
def test_wall_formula_states_its_rows(open_app, repeats, rows):
    """The formula of the wall says how many rows were computed, and of a text with shapes how many keys each has."""
    n = 3 * repeats
    app = open_app("long_text", **WORDS | {"text": "one two three " * repeats}, section="wall")
    app.session_state["_footer_wall"] = "why"
    below = " ".join(element.value for element in app.run().markdown)
    assert T("long_text.wall_rows", rows=rows, n=n) in below
    assert ("an even spread would have" in below) == (n >= SHORTEST)


def test_wall_formula_of_stopped_pass(open_app, monkeypatch):
    """A pass that was stopped has a formula, and no rows to count."""
    monkeypatch.setattr("pages.long_text.context._watch_progress", lambda *_: nullcontext(True))
    app = open_app("long_text", **WORDS, section="wall")
    app.session_state["_footer_wall"] = "why"
    assert [element.value for element in app.run().latex] and not app.exception


def test_pass_progress_stop_and_restart(open_app, monkeypatch):
    def read(text):
        long_texts.tell(0.25)
        st.stop()  # as a click on the button ends it

    monkeypatch.setattr(context, "SOON", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr("pages.long_text.compute.read", read)
        app = open_app("long_text", **WORDS)
        assert app.get("progress")[0].proto.text == T("long_text.reading", share="25%")
        app.button(key="long_stop").click().run()
        assert [box.value for box in app.info] == [T("long_text.stopped")]
    app.run()
    assert not app.get("progress") and "were read" not in page_sentences(app), "it stays stopped"
    app.button(key="long_go_on").click().run()
    assert "3 tokens were read" in page_sentences(app) and not app.info


def test_the_scene_reads_the_beginning_only(open_app, monkeypatch):
    texts, trace = [], compute.trace

    def noted(source, *choice):
        texts.append(source.text)
        return trace(source, *choice)

    monkeypatch.setattr(compute, "trace", noted)
    open_app("long_text", **WORDS | {"text": "word " * 700})
    assert {len(text) for text in texts} == {context.BEGINNING}


def test_place_beyond_text_clamped(open_app):
    app = open_app("long_text", **WORDS)
    app.session_state["long_row"], app.session_state["zoom_row"] = 10**9, 10**9
    app.run()
    assert (app.session_state["long_row"], app.session_state["zoom_row"]) == (2, 0)


def test_seeded_text_shares_word_vectors():
    """Each word's vector is drawn once; every place of it has the same."""
    from pages.long_text.compute import read

    source = Source(kind="words", text="one two one", d_model=6, n_heads=2, n_kv_heads=1, seed=4)
    capture, expected = read(LongText(source=source, times=2, most=5)), compute.read(source).calls[0]
    assert len(capture.tokens.ids) == 5 and capture.tokens.n_excess == 1
    assert_close((capture.layers[0].q[:, :3], capture.layers[0].k[:, :3]), (expected.q, expected.k))
    assert_close(capture.layers[0].q[:, 3:], expected.q[:, :2])
