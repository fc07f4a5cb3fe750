"""The page Attention today without a browser: its checks hold, its numbers are the core's, its table the configs'."""

import json
import math
import re
from dataclasses import replace
from string import ascii_letters

import pytest
import torch
from torch.testing import assert_close

from pages.attention_today import context
from pages.attention_today.models import models
from pages.attention_today.nobody import share_of_nobody
from pages.attention_today.who_uses import size_text
from tests.faults import put_in
from tests.running import checked, sentences_of
from viz import ROOT
from viz.components.unpack import unpack
from viz.core.variants.today import gates
from viz.frame.compute import read
from viz.frame.specs import Source
from viz.text import LANGUAGES, translator

T = translator("en")


SEEDED = {"source": "words", "text": "one two three four two"}


def test_gate_range_is_of_every_dimension(open_app, monkeypatch):
    """Gates of 0.25 and 0.75 in turn: their means over a head are 0.5, and no gate is."""
    in_turn = torch.tensor([0.25, 0.75]).repeat(2)
    put_in(monkeypatch, gates.output_gate, lambda right, *args, **options: right(*args, **options) * 0 + in_turn)
    app = open_app("attention_today", section="gate", gated="dimension", **SEEDED | {"d_model": 16, "n_heads": 4})
    assert any("between 0.25 and 0.75 (mean 0.5" in sentence for sentence in sentences_of(app))


@pytest.mark.parametrize("kind", ["cap", "norm"])
def test_tamed_largest_is_before_bias(open_app, monkeypatch, kind):
    """A bias by distance, as T5 adds it, may exceed the limit; the scores of the table do not, as a sentence says."""
    biased = T("attention_today.tamed.biased")
    options = SEEDED | {"section": "tamed", "tamed": kind, "cap": 5.0}
    assert biased not in [caption.value for caption in open_app("attention_today", **options).caption]

    def add_bias(right, scene, n):
        layer = right(scene, n)
        return replace(layer, options=layer.options | {"bias": torch.full((1, n, n), 30.0).tril()})

    put_in(monkeypatch, context.layer_of, add_bias)
    app = open_app("attention_today", **options)
    assert biased in [caption.value for caption in app.caption]
    bounds, largest = (app.dataframe[0].value[T(f"attention_today.tamed.{name}")] for name in ("bound", "largest"))
    for bound, score in zip(bounds[2:], largest[2:], strict=True):
        assert 0 < float(score) <= float(bound)
    n_passed, n = checked(app, "tamed")
    assert n_passed == n


def test_nobody_takes_fully_masked_row():
    """A row without a visible word goes to the sink as a whole; without a sink no row goes anywhere else."""
    masked = torch.tensor([[[-math.inf, -math.inf], [0.0, 0.0]]])
    assert_close(share_of_nobody(masked, torch.zeros(1)), torch.tensor([[1.0, 1 / 3]]))
    assert_close(share_of_nobody(masked, torch.tensor([-math.inf])), torch.zeros(1, 2))


def test_difference_without_share_is_standard(open_app):
    app = open_app("attention_today", section="difference", subtracted=0.0, **SEEDED)
    assert T("attention_today.difference.says", sum="1", negative=0, cells=25, part="0.0%") in sentences_of(app)


def test_exclusive_without_share_is_standard(open_app):
    """With λ = 0 as much lies along the own values as before, and the second map is the first."""
    app = open_app("attention_today", section="difference", view="exclusive", subtracted=0.0, **SEEDED)
    (sentence,) = [sentence for sentence in sentences_of(app) if "squared length" in sentence]
    before, after = re.findall(r"[\d.]+%", sentence)[:2]
    assert before == after != "0%"
    headers = [unpack(view.proto.bytes) for view in app.get("bidi_component") if view.proto.bytes]
    (maps,) = (blocks["values"].reshape(3, -1) for header, blocks in headers if "maps" in header)
    assert (maps[0] == maps[1]).all() and (maps[0] != maps[2]).any()


@pytest.mark.parametrize("way", ["chosen", "chosen_blocks", "chosen_means"])
def test_every_key_chosen_loses_nothing(open_app, way):
    """With k as large as the text; with k = 1 something is lost, of blocks too."""
    losses, link = [], SEEDED | {"section": "chosen", "view": way, "mask": "causal", "text": "a b c d e f g h i"}
    for k in (9, 1):
        app = open_app("attention_today", near_size=k, **link)
        (sentence,) = [sentence for sentence in sentences_of(app) if "Rows of head" in sentence]
        losses.append(re.findall(r"[\d.]+%", sentence))
    assert losses[0] == ["0.0%", "0.0%"] and "0.0%" not in losses[1]


def test_one_word_entries_are_standard(open_app):
    """With m = 1 and w = 0 every word is a key; with m = 3 and w = 1 the last of 7 words has two entries and itself."""
    link, findings = SEEDED | {"section": "chosen", "view": "compressed", "mask": "causal", "text": "a b c a b c d"}, []
    for m, fresh in ((1, 0), (3, 1)):
        app = open_app("attention_today", group_size=m, keep=fresh, **link)
        (sentence,) = [sentence for sentence in sentences_of(app) if "Rows of head" in sentence]
        findings.append(re.findall(r"\*\*([\d.]+%?)\*\*", sentence))
    assert findings[0] == ["7", "0.0%", "100.0%"] and findings[1][::2] == ["3", "42.9%"] and findings[1][1] != "0.0%"


@pytest.mark.parametrize("source", [SEEDED, {"text": "The cat sings."}, {"text": "cat", "model": "twin-g8"}])
def test_depth_untrained_is_plain(open_app, source):
    """With w = 0 Kimi K3's map is the plain stream's, and Inkling 2's weighs all alike."""
    (plain, normed, raw), (_, *longer) = (
        depth_maps(open_app("attention_today", section="depth", temperature=length, **source)) for length in (0.0, 8.0)
    )
    even = torch.ones(normed.shape).tril() / torch.arange(1, len(normed) + 1)[:, None]
    assert_close(torch.stack([raw, normed]), torch.stack([plain, even]), atol=1e-6, rtol=0)
    assert (longer[1] - plain).abs().max() > 0.01


def depth_maps(app):
    """The three maps, as the browser reads them."""
    views = [unpack(view.proto.bytes) for view in app.get("bidi_component") if view.proto.bytes]
    (maps,) = (
        torch.tensor(blocks["values"]).view(3, header["rows"], -1) for header, blocks in views if "maps" in header
    )
    return maps


def published():
    """The published configurations among the page's models."""
    configs = json.loads((ROOT / "tools" / "published.json").read_text("utf8"))
    return {model.name: (model, configs[model.name]["config"]) for model in models() if model.name in configs}


def features_of(config):
    """Read off a configuration which features it has, where its fields or its family say so."""
    text = config.get("text_config", config)
    kind = text["model_type"]
    windows = {"gemma3_text", "cohere2", "modernbert", "gpt_oss", "olmo3"}
    return {
        name
        for name, is_there in {
            "sink": kind == "gpt_oss",
            "qk_norm": kind in {"qwen3", "qwen3_moe", "olmo3", "gemma3_text"} or bool(text.get("use_qk_norm")),
            "mla": "kv_lora_rank" in text,
            "window": kind in windows,
            "nope": 0 in text.get("no_rope_layers", []) or kind == "cohere2",
            "partial_rope": text.get("partial_rotary_factor", 1) < 1
            or text.get("rotary_dim", text.get("head_dim", 0)) < text.get("head_dim", 0),
            "cap": text.get("attn_logit_softcapping") is not None,
        }.items()
        if is_there
    }


def test_models_table_says_what_configs_do():
    found = published()
    assert len(found) >= 12
    assert {name: set(model.features) for name, (model, _) in found.items()} == {
        name: features_of(config) for name, (_, config) in found.items()
    }


def test_size_words_are_translated():
    """A word among the sizes would stand in English on a Chinese page."""
    sizes = {element for model in models() for element in model.features.items()}
    for lang in LANGUAGES:
        t = translator(lang)
        texts = {size_text(t, feature, size) for feature, size in sizes}
        assert lang == "en" or not any(
            character in ascii_letters for text in texts for character in text.replace("RoPE", "")
        )


@pytest.mark.parametrize(("layer", "which"), [(0, "before"), (1, "before"), (1, "own")])
def test_layer_shares_choice_of_one_below(open_app, small_model, layer, which):
    """The largest product of each row is left; where the layer below chooses it is the product there."""
    link = {"source": "model", "model": small_model("llama"), "text": "a b c d e f g h i", "layer": layer, "head": 1}
    app = open_app("attention_today", section="chosen", near_size=1, pattern=which, **link)
    headers = [unpack(view.proto.bytes) for view in app.get("bidi_component") if view.proto.bytes]
    cells = [blocks["values"] for header, blocks in headers if "values" in blocks][1]
    source = Source(kind="model", model=link["model"], text=link["text"])
    call = read(source).calls[0 if which == "before" else layer]
    products = (call.q[1] @ call.k[0].T).masked_fill(~call.options["allowed"], -torch.inf)
    n = len(products)
    best = torch.from_numpy(cells.reshape(n, n).copy()).nan_to_num(0.0).argmax(-1)
    assert best.tolist() == products.argmax(-1).tolist()
    assert ("Chosen by" in str([element.label for element in app.get("button_group")])) == (layer > 0)


@pytest.mark.parametrize(("nobody", "n_series"), [("off", 1), ("by_one", 3)])
def test_nobody_off_speaks_of_no_sink(open_app, nobody, n_series):
    """Without a sink no picture is named after one."""
    app = open_app("attention_today", section="nobody", nobody=nobody, **SEEDED)
    headers = [unpack(view.proto.bytes)[0] for view in app.get("bidi_component") if view.proto.bytes]
    (maps,), (bars,) = ([header for header in headers if name in header] for name in ("maps", "series"))
    assert ("with the sink" in maps["maps"][-1]["title"]) == (nobody != "off")
    assert len(bars["series"]) == n_series


@pytest.mark.parametrize(
    ("link", "H", "G", "d"),
    [
        ({"source": "model", "model": "twin-g8"}, 8, 8, 16),
        ({"source": "model", "model": "twin-g1"}, 8, 1, 16),
        ({"source": "words", "n_heads": 4, "n_kv_heads": 2, "d_model": 24}, 4, 2, 6),
    ],
)
def test_state_counts_shared_cache(open_app, link, H, G, d):
    """A state is smaller than the keys and values that a token adds to the cache, however heads share them."""
    app = open_app("attention_today", section="state", text="Seven herons waited by the lock", **link)
    values = {"d_k": d, "d_v": d, "H": H, "G": G, "numbers": f"{H * d * d:,}", "n": str(H * d * d // (G * 2 * d) + 1)}
    assert T("attention_today.state.size", **values) in [element.value for element in app.caption]
