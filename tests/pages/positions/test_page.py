"""The Positions page without a browser: its checks hold, what cannot be is said, its state is its link."""

import re

import pytest
import torch
from torch.testing import assert_close

from tests.running import checked, sentences_of
from tests.sections import views_of
from viz.components.unpack import unpack
from viz.frame import compute, specs
from viz.frame.format import part
from viz.models import attention_interface
from viz.text import translator

T = translator("en")
TEXT = "The animal didn't cross the street because it was too tired."


def checks(app):
    """Count of passing checks by section that has any; a pair (passing, all) where they differ."""
    result = {name: checked(app, name) for name in views_of("positions")}
    return {name: n_passed if n_passed == n else (n_passed, n) for name, (n_passed, n) in result.items() if n}


def strip(app, *titles):
    """The strip of maps whose first map has the first of these titles: its header and its maps by title."""
    for component in app.get("bidi_component"):
        if component.proto.component_name == "headlight.maps":
            header, blocks = unpack(component.proto.bytes)
            maps = torch.tensor(blocks["values"]).reshape(-1, header["n"], header["n"])
            result = {panel["title"]: element for panel, element in zip(header["maps"], maps, strict=True)}
            if set(titles) <= set(result):
                return header, result, blocks
    raise AssertionError(f"no strip of maps has {titles}")


def encoding_maps(app):
    return strip(app, T("positions.name_none"), T("positions.name_alibi"))


EVERY = {
    "shuffle": 4, "real_head": 1, "sinusoids": 1, "step": 3, "encodings": 3, "rope": 2, "today": 6, "no_positions": 5,
}  # fmt: skip
SEEDED = EVERY | {"shuffle": 3}
"""No model whose layers could all be compared."""


@pytest.mark.usefixtures("without_source_checks")
def test_the_words_are_shuffled_again(open_app):
    app = open_app("positions")
    sentences = [line.value for line in app.get("text")[1:]]
    app.button(key="shuffle_words").click().run()
    assert app.query_params["shuffle"] == "1"
    written_text, shuffled, *_ = (line.value for line in app.get("text")[1:])
    assert written_text == sentences[0]
    assert shuffled != sentences[1]
    assert checks(app) == {"shuffle": 4}
    head = open_app("positions", section="real_head", shuffle=999)
    head.button(key="shuffle_model").click().run()
    assert "shuffle" not in head.query_params, "after the last comes the first"
    assert open_app("positions", order="reversed").button(key="shuffle_words").disabled


def test_layers_that_new_text_runs(open_app, monkeypatch):
    """In every layer its own positions, none, and none in another order; in the first the learned ones in both."""
    runs, attend = [], attention_interface.attend
    monkeypatch.setattr(attention_interface, "attend", lambda *q, **o: runs.append(len(q)) or attend(*q, **o))
    assert checks(open_app("positions", text="a new text"))["shuffle"]
    assert len(runs) == 3 * 6 + 2


def test_masks_are_for_the_comparison_only(open_app):
    app = open_app("positions", mask="causal", section="all")
    later = torch.ones(16, 16).triu(1).bool()
    _, maps, _ = encoding_maps(app)
    for element in maps.values():
        assert element[later].max() == 0
        assert_close(element.sum(-1), torch.ones(16))
    _, need, _ = strip(app, T("positions.map_as_written", name=T("positions.name_none")))
    assert all(element[later].max() > 0 for element in need.values())


@pytest.mark.usefixtures("without_source_checks")
def test_odd_head_width_warning(open_app):
    app = open_app("positions", section="all", source="words", d_model=6, n_heads=2)
    assert not app.exception
    names = " · ".join(T(f"positions.name_rope_{pairing}") for pairing in ("adjacent", "halves"))
    sentences = [T("positions.unavailable", names=names), *[T("error.odd_width", width=3)] * 3]
    assert [line.value for line in app.warning] == sentences, (
        "once below the maps, once for RoPE's section, once for today's"
    )
    assert T("positions.name_rope_halves") not in encoding_maps(app)[1]
    assert checks(app) == {name: n for name, n in SEEDED.items() if name not in ("rope", "today")}


def test_odd_width_explained(open_app):
    app = open_app("positions", pe_width=7, section="sinusoids")
    assert not app.exception
    assert [element.value for element in app.warning] == [T("error.odd_width", width=7)]
    step = open_app("positions", pe_width=7, section="sinusoids", pe_show="step")
    assert [line.value for line in step.info] == [T("positions.odd")]
    assert not step.exception


def test_first_layer_regardless_of_choice(open_app):
    app = open_app("positions", layer=5)
    assert any("layer 0 (of" in caption.value for caption in app.caption)
    assert T("positions.first_layer") in [caption.value for caption in app.caption]
    assert app.session_state["layer"] == 5


def test_encoding_of_link_opens_map(open_app):
    app = open_app("positions", source="words", encoding="t5", section="encodings")
    assert any(T("positions.about_t5") in line for line in sentences_of(app))
    assert encoding_maps(app)[0]["chosen"] == "t5"


def captions(app):
    return " ".join(element.value for element in app.caption)


def test_header_states_models_own_numbers(open_app):
    """Positions are the page's: that every number is the model's would be false, and so would "no positions"."""
    every = "Every number is the trained model's own."
    minilm, embeddings = captions(open_app("positions")), captions(open_app("positions", source="embeddings"))
    assert T("positions.model_table") in minilm and every not in minilm
    assert "no positions" not in embeddings and "then each row is normalised" in embeddings
    assert "Nothing here has learned anything." in captions(open_app("positions", source="words"))


def test_rotary_model_names_its_map(open_app):
    """The twins are Llamas: halves, base 10 000."""
    link = {"section": "encodings", "model": "twin-g2", "text": "repeat repeat after me"}
    for base, is_own in ((10_000, True), (500, False)):
        sentences = captions(open_app("positions", **link, base=base))
        assert T("positions.model_turns") in sentences
        difference = re.search(r"RoPE, halves (\S+?)\.?( |$)", sentences)[1]
        assert ("10⁻" in difference) == is_own


@pytest.mark.parametrize(("text", "order", "n_infos"), [("word", "shuffled", 2), ("dog cat dog", "reversed", 1)])
def test_equal_words_are_no_evidence(open_app, text, order, n_infos):
    """[CLS] and [SEP] stay where they are: where nothing was exchanged, nothing can be learned from it."""
    app = open_app("positions", section="all", text=text, order=order)
    assert bool([frame for frame in app.dataframe if "weight" in frame.value]) == (n_infos == 1)
    assert [item.value for item in app.info].count(T("positions.same_order")) == n_infos


def test_causal_even_spread_sentence(open_app, small_model):
    """Under a causal mask the even spread is over the preceding tokens."""
    model = small_model("gpt2")
    app = open_app("positions", section="real_head", model=model, text=TEXT)
    n = len(compute.read(specs.Source(kind="model", text=TEXT, model=model)).tokens.ids)
    even = sum(1 / (i + 1) for i in range(1, n)) / (n - 1)
    assert T("positions.evidence_says", even=part(even)) in sentences_of(app)
    assert f"{even:.2f}" != f"{1 / n:.2f}"
