"""The Block page without a browser: its boxes hold a model's own numbers, its switches do what they say."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from pages.block import compute as block_compute
from pages.block.compute import outcome, stack_of
from pages.block.equations import equations_error
from tests.running import bar_charts, checked, line_charts, matrices
from tests.sections import link_to, views_of
from viz.core.masks import causal
from viz.frame import compute
from viz.frame.compute import blocks
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.examples import examples
from viz.frame.specs import Mask, Source
from viz.models.load import load
from viz.text import translator

T = translator("en")
TEXT = examples()[0].text
MINILM = compute.DEFAULT_MODEL
POST = ["attention", "attention_add", "attention_norm", "hidden", "feed_forward", "feed_forward_add"]
SECTIONS = views_of("block")


def checks(app):
    """Count of passing checks by section; a pair (passing, all) where they differ."""
    result = {name: checked(app, name) for name in SECTIONS}
    return {name: n_passed if n_passed == n else (n_passed, n) for name, (n_passed, n) in result.items() if n}


def lines(app, section):
    """A section's checks in words."""
    app.session_state[f"_footer_{section}"] = "checks"
    return [line.value for line in app.run().markdown if line.value[:1] in "✓✗"]


def diagram(app):
    """View data of the diagram, and the boxes of every side by its name, in order."""
    payload = next(
        element.proto.json for element in app.get("bidi_component") if "block" in element.proto.component_name
    )
    (data,) = json.loads(payload)
    sides = {}
    for side in data["sides"]:
        boxes = list(side["inputs"])
        for part in side["parts"]:
            boxes += [*part["boxes"], *part["tail"]]
        sides[side["name"]] = boxes
    return data, sides


def open_tensor(app):
    """The tensor of the open box."""
    return matrices(app)["block_tensor"][1]


EVERY = {"diagram": 4, "points": 2, "switched_off": 1, "norm_place": 3, "encoder_decoder": 5, "against_torch": 3}
SEEDED = EVERY | {"against_torch": 2}
"""No model has computed these numbers before."""


def with_torch_checks(counts):
    """Return the counts with what is held against torch among the diagram's."""
    rest = {name: n for name, n in counts.items() if name != "against_torch"}
    return rest | {"diagram": rest["diagram"] + counts["against_torch"]}


BOTH = SEEDED | {"diagram": 5, "points": 4, "against_torch": 4}


def test_box_equals_models_hidden_state(open_app):
    app = open_app("block", layer=2, box="enc_feed_forward_norm")
    loaded_model = load(MINILM)
    ids = loaded_model.tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.inference_mode():
        states = loaded_model.model(input_ids=ids, output_hidden_states=True).hidden_states
    assert_close(open_tensor(app), states[3][0], atol=1e-5, rtol=1e-5)
    data, sides = diagram(app)
    boxes = sides[T("block.side_encoder")]
    inputs = ["embedding", "position", "sum", "x"]
    assert [box["code"] for box in boxes] == [f"enc_{code}" for code in (*inputs, *POST, "feed_forward_norm")]
    assert boxes[3]["name"] == T("block.name_x", layer=1)
    assert boxes[-1]["detail"] == f"{len(ids[0])} × 384"
    assert boxes[-1]["more"] == T("block.name_feed_forward")
    assert data["chosen"] == "enc_feed_forward_norm"
    app.session_state["box"] = "enc_x"
    assert_close(open_tensor(app.run()), states[2][0], atol=1e-5, rtol=1e-5)


def test_switches_change_boxes_and_link(open_app):
    app = open_app("block", source="embeddings", block="both", box="dec_sum")
    app.session_state["_footer_diagram"] = "why"
    assert any("u_i = e_i + p_i" in formula.value for formula in app.run().latex)
    app = open_app("block", source="words", block="both", norm="pre", residual=0, box="dec_cross", section="all")
    data, sides = diagram(app)
    assert not any(part["residual"] for side in data["sides"] for part in side["parts"])
    off = [box for boxes in sides.values() for box in boxes if "off" in box["look"]]
    names = ("enc_attention", "enc_feed_forward", "dec_attention", "dec_cross", "dec_feed_forward")
    assert [box["code"] for box in off] == [f"{name}_add" for name in names]
    assert all(T("block.off") in box["more"] for box in off)
    decoder = [box["code"] for box in sides[T("block.side_decoder")]]
    assert decoder[3:8] == ["dec_attention_norm", "dec_attention", "dec_attention_add", "dec_cross_norm", "dec_memory"]
    link = {name: app.query_params[name] for name in ("block", "norm", "residual", "box")}
    assert link == {"block": "both", "norm": "pre", "residual": "0", "box": "dec_cross"}
    assert bar_charts(app)["block_alike"].header["labels"][-1] == T("block.variant_several")
    app.session_state["residual"] = True
    assert T("block.variant_several") not in bar_charts(app.run())["block_alike"].header["labels"]


def test_other_model_resets_norm(open_app):
    """BERT has its norm behind the sum, Llama in front; after BERT with pre-norm one does not meet a changed Llama."""
    app = open_app("block", norm="pre")
    assert len(app.warning) == 1
    app.session_state["model"] = "twin-g1"
    app.run()
    assert not app.exception
    assert not app.warning
    assert app.session_state["norm"] == "own"
    assert [box["code"] for box in diagram(app)[1][T("block.side_causal")]][2:5] == [
        "enc_x",
        "enc_attention_norm",
        "enc_attention",
    ]


def test_the_hidden_layers_zeros_are_counted(open_app):
    """GELU gives exactly 0 where float32 ends: a share of 0 % would say that it does not."""
    captions = [caption.value for caption in open_app("block", box="enc_hidden", layer=1).caption]
    source = Source(kind="model", text=TEXT, model=MINILM)
    active = blocks.blocks(source, BlockPlan(), Mask())[1].feed_forward.active
    zeros = int((active == 0).sum())
    assert T("block.hidden_says", zero=zeros, all=f"{active.numel():,}") in captions
    loaded_model, outputs = load(MINILM), []
    part = loaded_model.model.encoder.layer[1].intermediate
    hook = part.register_forward_hook(lambda *arguments: outputs.append(arguments[-1]))
    with torch.inference_mode():
        loaded_model.model(input_ids=loaded_model.tokenizer(TEXT, return_tensors="pt").input_ids)
    hook.remove()
    theirs = int((outputs[0] == 0).sum())
    assert theirs > 0
    assert abs(zeros - theirs) <= 3  # where float32 ends, the last bit of a product decides


def test_fully_masked_rows_noted(open_app):
    app = open_app("block", source="words", text="one two three four", mask="both", pad=2, pad_left=1)
    assert any(T("block.weights_blind", n=2) in caption.value for caption in app.caption)
    app = open_app("block", source="words", text="one two three four", mask="both", pad=2)
    assert not any(T("block.weights_blind", n="X")[-20:] in caption.value for caption in app.caption)


def test_checks_name_sides_as_diagram(open_app):
    result = lines(open_app("block", model="twin-g8", text="the cat saw a red bird"), "diagram")
    assert any(T("block.side_causal") in line for line in result)
    assert not any(T("block.side_encoder") in line for line in result)


@pytest.mark.parametrize(
    "plan", [BlockPlan(), BlockPlan(norm="pre"), BlockPlan(residual=False), BlockPlan(normalize=False)]
)
def test_the_equations_notice_another_design(plan):
    """Each design is held against its own equations: another one's numbers are far from them."""
    plan = replace(plan, layers=(0, 1))
    stack, masks = stack_of(TestStacks.WORDS, "", plan, Mask())
    traces = stack.run(**masks, design=plan.design(stack.design))
    assert equations_error(stack, traces, masks) < 1e-6
    for second in (BlockPlan(), BlockPlan(norm="pre"), BlockPlan(residual=False), BlockPlan(normalize=False)):
        design = second.design(stack.design)
        if design != traces[0].design:
            assert equations_error(stack, [replace(trace, design=design) for trace in traces], masks) > 0.01
    assert equations_error(stack, traces[::-1], masks) == float("inf")


@pytest.mark.parametrize("section", SECTIONS)
def test_empty_target_error_keeps_state(open_app, section):
    app = open_app("block", block="decoder", target="  ", **link_to("block", section))
    assert [error.value for error in app.error] == [T("block.no_target")]
    assert not app.exception
    assert app.session_state["target"] == "  "
    assert app.session_state["text"] == TEXT


PARTS = ("attention", "feed_forward")


@pytest.mark.parametrize(
    ("family", "norm", "steps"),
    [("olmo2", "output", ("", "_norm", "_add")), ("gemma2", "sandwich", ("_norm", "", "_out_norm", "_add"))],
)
@pytest.mark.usefixtures("without_source_checks")
def test_norms_behind_parts(open_app, small_model, family, norm, steps):
    """Boxes in order of computation with the model's own numbers, its formula, and what another place means."""
    model = small_model(family)
    box = "enc_feed_forward_norm" if norm == "output" else "enc_feed_forward_out_norm"
    app = open_app("block", model=model, layer=1, box=box, section="all")
    assert not app.exception and not app.warning
    assert all(isinstance(n_passed, int) for n_passed in checks(app).values())
    assert any("✓" in line and "hidden states" in line for line in lines(app, "diagram"))
    _, sides = diagram(app)
    ((_, boxes),) = sides.items()
    codes = [f"enc_{part}{step}" for part in PARTS for step in steps]
    assert [box["code"] for box in boxes if box["code"] in codes] == codes
    assert len({(box["name"], box["more"]) for box in boxes}) == len(boxes)
    source = Source(kind="model", text=TEXT, model=model)
    (_, trace) = blocks.blocks(source, BlockPlan(), Mask())
    assert_close(open_tensor(app), trace.points[box.removeprefix("enc_")], atol=1e-5, rtol=1e-5)
    built = T("block.as_built", name=T(f"block.variant_{norm}"))
    assert built in str(line_charts(app)["block_place_lengths"])
    app = open_app("block", model=model, norm="post")
    assert [box.value for box in app.warning] == [T("block.not_trained", model=model)]
    assert all(isinstance(n_passed, int) for n_passed in checks(app).values())


@pytest.mark.usefixtures("without_source_checks")
def test_unknown_block_is_sentence(open_app, small_model):
    app = open_app("block", model=small_model("phi"))
    assert not app.exception
    assert ["in a block of phi attention and the" in error.value for error in app.error] == [True]


@pytest.mark.usefixtures("without_source_checks")
def test_encoder_decoder_family_has_own_blocks(open_app, small_model):
    """An encoder-decoder shows blocks of its own on both sides."""
    model = small_model("bart")
    app = open_app("block", model=model, block="both", layer=1, target="Paris is old.", section="all")
    assert not app.exception
    assert checks(app) == with_torch_checks(BOTH | {"against_torch": 6})
    result = lines(app, "diagram")
    assert sum("hidden states" in line for line in result) == 2
    assert any(line.startswith("✓") and "TransformerDecoderLayer" in line for line in result)
    assert not any(T("block.lent", model=model) in caption.value for caption in app.caption)


class TestStacks:
    """Cached stacks that the page and its neighbours read."""

    WORDS = Source(kind="words", text="one two three four", d_model=12, n_heads=4, n_kv_heads=2, seed=3)

    @pytest.mark.parametrize(("kind", "pad_left"), [("padding", False), ("both", True)])
    def test_cross_attention_ignores_source_padding(self, kind, pad_left):
        mask = Mask(kind=kind, pad=2, pad_left=pad_left)
        (decoder,) = blocks.decoder_blocks(self.WORDS, "five six seven", BlockPlan(), mask)
        assert decoder.cross is not None
        is_attended = (decoder.cross.weights > 0).all(1).all(0)
        assert is_attended.tolist() == ([False, False, True, True] if pad_left else [True, True, False, False])
        assert torch.equal(decoder.attention.weights > 0, causal(3, 3).expand(4, -1, -1))
        plan = BlockPlan(norm="pre")
        layers = blocks.decoder_blocks(self.WORDS, "five six seven", block_compute.deep(self.WORDS, plan), mask)
        lengths = [float(level.norm(dim=-1).mean()) for level in (layers[0].x, *(trace.output for trace in layers))]
        result = outcome(self.WORDS, "five six seven", plan, mask)
        assert result.lengths == pytest.approx(lengths)
        assert len(layers) == block_compute.SEEDED_BLOCKS

    def test_a_long_text_is_cut(self):
        long = Source(kind="words", text="word " * 300, d_model=4, n_heads=1, n_kv_heads=1)
        assert len(blocks.blocks(long, BlockPlan(), Mask())[0].x) == 128
        assert len(blocks.reading(long).tokens.labels) == 128

    @pytest.mark.parametrize(("n_layers", "n"), [(6, 128), (12, 128), (13, 118), (30, 51)])
    def test_through_more_layers_go_fewer_tokens(self, monkeypatch, n_layers, n):
        """Every step of thirty layers of 128 tokens is more than is kept: each part of a page computed it anew."""
        monkeypatch.setattr(compute, "model", lambda _: SimpleNamespace(n_layers=n_layers))
        assert compute.stack_tokens(Source(kind="model", text="", model="any")) == n


@pytest.mark.usefixtures("without_source_checks")
def test_opt_350m_block_begins_with_sum(open_app, small_model):
    """Its words' vectors are narrower than its positions: the parts of the input are no boxes, and the sum is one."""
    model = small_model("opt", do_layer_norm_before=False, word_embed_proj_dim=24)
    app = open_app("block", model=model, layer=1, section="all")
    assert not app.exception and not app.warning
    results = checks(app)
    assert all(isinstance(n_passed, int) for n_passed in results.values())
    assert any("✓" in line and "hidden states" in line for line in lines(app, "diagram"))
    _, sides = diagram(app)
    codes = {box["code"] for boxes in sides.values() for box in boxes}
    assert {"enc_embedding", "enc_position"}.isdisjoint(codes) and "enc_attention" in codes
