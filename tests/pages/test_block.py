"""The Block page without a browser: its boxes hold a model's own numbers, its switches do what they say."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests import checkpoints
from tests.conftest import walk
from viz.core.block import BlockWeights, decoder_block, encoder_block
from viz.core.masks import causal
from viz.core.norm import no_norm
from viz.models import load
from viz.text import LANGUAGES, translator
from viz.ui import compute, compute_blocks, controls
from viz.ui.block_numbers import norm_error
from viz.ui.specs import BlockPlan, Mask, Source

T = translator("en")
TEXT = controls.examples()[0].text
POST = ["attention", "attention_add", "attention_norm", "hidden", "feed_forward", "feed_forward_add"]


def badge(app):
    """The badge: whether all holds, and the lines."""
    box = next(box for box in app.main.get("expander") if box.label[:1] in "✓✗")
    return box.label[:1], [line.value for line in walk(box) if getattr(line, "type", "") == "markdown"]


def diagram(app):
    """What the browser is told: the towers by name, each a list of boxes in order."""
    data = json.loads(next(one.proto.json for one in app.get("bidi_component") if "block" in one.proto.component_name))
    towers = {}
    for tower in data["towers"]:
        boxes = list(tower["inputs"])
        for part in tower["parts"]:
            boxes += [*part["boxes"], *part["tail"]]
        towers[tower["name"]] = boxes
    return data, towers


def opened(app):
    """The tensor of the open box, read from its figure."""
    for chart in app.get("plotly_chart"):
        z = json.loads(chart.proto.spec)["data"][0]["z"]
        if isinstance(z, dict):
            values = np.frombuffer(__import__("base64").b64decode(z["bdata"]), z["dtype"].replace("f", "<f"))
            return torch.tensor(values.reshape([int(n) for n in z["shape"].split(",")]))
    raise AssertionError("no figure")


@pytest.mark.parametrize(
    ("link", "n_checks"),
    [
        ({}, 7),
        ({"source": "embeddings", "block": "both", "lang": "zh"}, 9),
        ({"source": "words", "block": "decoder", "norm": "pre", "lang": "zh"}, 6),
        ({"source": "words", "block": "both", "residual": 0, "normalize": 0}, 3),
        ({"model": "twin-g2", "block": "both", "text": "the cat saw a red bird"}, 9),
        ({"block": "both", "text": "dog", "target": "cat " * 150, "norm": "pre", "mask": "causal"}, 9),
    ],
)
def test_every_check_of_the_page_holds(open_app, link, n_checks):
    app, t = open_app("block", **link), translator(link.get("lang", "en"))
    assert not app.exception and not app.error
    mark, lines = badge(app)
    assert mark == "✓", lines
    assert len(lines) == n_checks, lines
    assert app.title[0].value == t("block.title")
    if link.get("target"):
        assert any(t("block.uneven", target=128, source=3) == info.value for info in app.info)
    model = link.get("model", controls.compute.DEFAULT_MODEL)
    changed = {t("block.not_trained", model=model)} & {warning.value for warning in app.warning}
    assert bool(changed) == ("norm" in link and "source" not in link)


def test_a_box_of_a_real_model_holds_its_own_hidden_state(open_app):
    app = open_app("block", layer=2, box="enc_feed_forward_norm")
    loaded = load("all-MiniLM-L6-v2")
    ids = loaded.tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.inference_mode():
        states = loaded.model(input_ids=ids, output_hidden_states=True).hidden_states
    assert_close(opened(app), states[3][0], atol=1e-5, rtol=1e-5)
    data, towers = diagram(app)
    boxes = towers[T("block.tower_encoder")]
    inputs = ["embedding", "position", "sum", "x"]
    assert [box["code"] for box in boxes] == [f"enc_{code}" for code in (*inputs, *POST, "feed_forward_norm")]
    assert boxes[3]["name"] == T("block.name_x", layer=1)
    assert boxes[-1]["detail"] == T(
        "block.detail", rows=len(ids[0]), columns=384, std=f"{float(states[3].std(-1, correction=0).mean()):.2f}"
    )  # fmt: skip
    assert data["chosen"] == "enc_feed_forward_norm"
    app.session_state["box"] = "enc_x"
    assert_close(opened(app.run()), states[2][0], atol=1e-5, rtol=1e-5)


def test_switches_change_the_boxes_and_the_link(open_app):
    app = open_app("block", source="embeddings", block="both", box="dec_sum")
    assert any("u_i = e_i + p_i" in formula.value for formula in app.latex)
    app = open_app("block", source="words", block="both", norm="pre", residual=0, box="dec_cross")
    data, towers = diagram(app)
    assert not any(part["residual"] for tower in data["towers"] for part in tower["parts"])
    off = [box["code"] for boxes in towers.values() for box in boxes if "off" in box["look"]]
    assert off == [f"{name}_add" for name in ("enc_attention", "enc_feed_forward", "dec_attention", "dec_cross",
                                              "dec_feed_forward")]  # fmt: skip
    decoder = [box["code"] for box in towers[T("block.tower_decoder")]]
    assert decoder[3:8] == ["dec_attention_norm", "dec_attention", "dec_attention_add", "dec_cross_norm", "dec_memory"]
    link = {name: app.query_params[name] for name in ("block", "norm", "residual", "box")}
    assert link == {"block": "both", "norm": "pre", "residual": "0", "box": "dec_cross"}
    frame = app.dataframe[0].value
    assert frame[T("block.variant")].tolist()[-1] == T("block.variant_now", name=T("block.variant_several"))
    app.session_state["residual"] = True
    assert (
        T("block.variant_now", name=T("block.variant_pre")) in app.run().dataframe[0].value[T("block.variant")].tolist()
    )


def test_every_model_begins_as_it_was_trained(open_app):
    """BERT has its norm behind the sum, Llama in front; after BERT with pre-norm one does not meet a changed Llama."""
    app = open_app("block", norm="pre")
    assert len(app.warning) == 1
    app.session_state["model"] = "twin-g1"
    app.run()
    assert not app.exception and not app.warning and app.session_state["norm"] == "own"
    assert [box["code"] for box in diagram(app)[1][T("block.tower_causal")]][2:5] == [
        "enc_x", "enc_attention_norm", "enc_attention"
    ]  # fmt: skip


def test_the_hidden_layers_zeros_are_counted(open_app):
    """GELU gives exactly 0 where float32 ends: a share of 0 % would say that it does not."""
    said = [caption.value for caption in open_app("block", box="enc_hidden", layer=1).caption]
    loaded, seen = load("all-MiniLM-L6-v2"), []
    part = loaded.model.encoder.layer[1].intermediate
    hook = part.register_forward_hook(lambda *given: seen.append(given[-1]))
    with torch.inference_mode():
        loaded.model(input_ids=loaded.tokenizer(TEXT, return_tensors="pt").input_ids)
    hook.remove()
    zeros = int((seen[0] == 0).sum())
    assert zeros > 0
    assert T("block.hidden_says", zero=zeros, all=f"{seen[0].numel():,}") in said


def test_rows_that_may_look_nowhere_are_excepted(open_app):
    app = open_app("block", source="words", text="one two three four", mask="both", pad=2, pad_left=1)
    assert any(T("block.weights_blind", n=2) in caption.value for caption in app.caption)
    app = open_app("block", source="words", text="one two three four", mask="both", pad=2)
    assert not any(T("block.weights_blind", n="X")[-20:] in caption.value for caption in app.caption)


def test_one_word_has_nothing_to_be_compared_with(open_app):
    app = open_app("block", source="words", text="word")
    assert set(app.dataframe[0].value[T("block.outcome_alike")]) == {"–"}


def test_the_badge_calls_a_tower_what_the_diagram_does(open_app):
    app = open_app("block", model="twin-g8", text="the cat saw a red bird")
    lines = badge(app)[1]
    assert any(T("block.tower_causal") in line for line in lines)
    assert not any(T("block.tower_encoder") in line for line in lines)


def test_the_check_of_norms_looks_at_what_is_shown():
    (trace,) = compute_blocks.blocks(TestStacks.WORDS, BlockPlan(), Mask())
    assert norm_error(trace) < 1e-5
    shown = {name: value + 0.1 * (name == "attention_norm") for name, value in trace.points.items()}
    assert norm_error(replace(trace, points=shown)) > 0.05


@pytest.mark.parametrize("changed", [{}, {"mask": "window"}, {"residual": 0}])
def test_the_models_own_numbers_are_called_so_and_others_not(open_app, changed):
    """A mask is laid over every block, so what a decoder is lent to read is not the model's output either."""
    app = open_app("block", model="twin-g8", block="both", text="the cat saw a red bird", **changed)
    said = [caption.value for caption in app.caption]
    lent = T("block.lent", model="twin-g8") + " "
    assert (lent + T("block.lent_real") in said) == (not changed)
    assert (lent + T("block.lent_changed") in said) == bool(changed)
    assert (T("block.masked", mask=T("mask.window")) in said) == ("mask" in changed)
    assert any(T("source.model_own") in each for each in said) == ("mask" not in changed)
    assert not any("this one layer" in each for each in said)
    assert not any("has no decoder" in each for each in said)


def test_without_words_a_sentence_and_nothing_is_lost(open_app):
    app = open_app("block", block="decoder", target="  ")
    assert [error.value for error in app.error] == [T("block.no_target")]
    assert not app.exception and app.session_state["target"] == "  " and app.session_state["text"] == TEXT


def test_hostile_words_arrive_as_text(open_app):
    hostile = "<b>x</b> ![y](http://example.com) $z$ {n} #000001"
    app = open_app("block", source="words", text=hostile, target=hostile, block="both", box="dec_cross")
    assert not app.exception and badge(app)[0] == "✓"
    assert not any("example" in line.value or "<b>" in line.value for line in [*app.markdown, *app.caption])


@pytest.mark.parametrize("family", ["bart", "gemma2"])
def test_other_families(open_app, monkeypatch, tmp_path, family):
    """An encoder-decoder shows blocks of its own on both sides; a block that is not known is a sentence."""
    entry = checkpoints.offered(family, tmp_path / "small")
    monkeypatch.setattr(compute, "local_entries", lambda: (entry,))
    app = open_app("block", model=entry.id, block="both", layer=1, target="Paris is old.")
    assert not app.exception
    if family == "gemma2":
        assert ["how a block of the family gemma2" in error.value.replace("\\", "") for error in app.error] == [True]
        return
    mark, lines = badge(app)
    assert mark == "✓" and sum("hidden states" in line for line in lines) == 2
    assert sum("TransformerDecoderLayer" in line for line in lines) == 1
    assert not any(T("block.lent", model=entry.id) in caption.value for caption in app.caption)


class TestStacks:
    """What the page and its neighbours take from the cache."""

    WORDS = Source(kind="words", text="one two three four", d_model=12, n_heads=4, n_kv_heads=2, seed=3)

    def test_a_seeded_stack_is_the_cores(self):
        first, second, third = compute_blocks.blocks(self.WORDS, BlockPlan(layers=(0, 1, 0)), Mask(kind="causal"))
        assert first.weights is third.weights and first.weights is not second.weights
        spec = first.attention.projections.spec
        own = BlockWeights.random(spec, 48, seed=3)
        assert_close(encoder_block(first.x, own, allowed=causal(4, 4)).output, first.output)
        bare = compute_blocks.blocks(self.WORDS, BlockPlan(positions=False), Mask())[0]
        assert_close(bare.x, compute.read(self.WORDS).calls[0].x)
        assert_close(bare.attention.output, compute.trace(self.WORDS, 0, Mask()).output)

    def test_a_decoder_reads_what_the_encoder_hands_on(self):
        plan = BlockPlan(normalize=False)
        encoder = compute_blocks.blocks(self.WORDS, plan, Mask())
        (decoder,) = compute_blocks.decoder_blocks(self.WORDS, "five six", plan, Mask())
        assert decoder.cross is not None
        assert_close(decoder.cross.memory, encoder[-1].output)
        assert decoder.design.normalize is no_norm
        again = decoder_block(
            decoder.x, encoder[-1].output, decoder.weights, allowed=causal(2, 2), design=decoder.design
        )
        assert_close(again.output, decoder.output)
        assert not torch.equal(decoder.weights.attention.w_q, encoder[0].weights.attention.w_q)

    @pytest.mark.parametrize(("kind", "left"), [("padding", False), ("both", True)])
    def test_padding_is_the_sources_and_nobody_looks_at_it(self, kind, left):
        mask = Mask(kind=kind, pad=2, pad_left=left)
        (decoder,) = compute_blocks.decoder_blocks(self.WORDS, "five six seven", BlockPlan(), mask)
        assert decoder.cross is not None
        seen = (decoder.cross.weights > 0).all(1).all(0)
        assert seen.tolist() == ([False, False, True, True] if left else [True, True, False, False])
        assert torch.equal(decoder.attention.weights > 0, causal(3, 3).expand(4, -1, -1))
        made = compute_blocks.outcome(self.WORDS, "five six seven", BlockPlan(), mask)
        assert made.norm == pytest.approx(float(decoder.output.norm(dim=-1).mean()))

    def test_a_long_text_is_cut(self):
        long = Source(kind="words", text="word " * 300, d_model=4, n_heads=1, n_kv_heads=1)
        assert len(compute_blocks.blocks(long, BlockPlan(), Mask())[0].x) == 128
        assert len(compute_blocks.reading(long).tokens.labels) == 128

    def test_without_residuals_tokens_become_the_same(self):
        source = Source(kind="model", text=TEXT, model="all-MiniLM-L6-v2")
        usual, none = (compute_blocks.outcome(source, "", BlockPlan(residual=r), Mask()) for r in (True, False))
        assert usual.alike < 0.6 and usual.kept > 0.2
        assert none.alike > 0.99 and abs(none.kept) < 0.1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_box_has_words(lang):
    """Names are put together from what a box is; none may be missing."""
    t = translator(lang)
    for kind in ("embedding", "position", "attention", "masked", "memory", "cross", "hidden", "feed_forward", "add"):
        assert t(f"block.name_{kind}", layer=0) and t(f"block.about_{kind}", layer=0, last=1)
