"""Every supported family: its heads equal transformers' own."""

import json
import re
from typing import Any

import pytest
import torch
import transformers
from packaging.version import Version
from torch import Tensor
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, MORE, NEWER, TEXT, TODAY, comparable_maps, eager, open_folder, save
from viz import ROOT
from viz.errors import ModelError
from viz.frame.specs import Mask
from viz.models import Capture, capture
from viz.models.blocks import block_layouts, model_blocks
from viz.models.layout import check_family, different_families, families, first_versions, layouts, refused_kind
from viz.models.registry import PICTURE_FAMILIES, Entry
from viz.text import LANGUAGES, sentences, translator

EVERY = FAMILIES | MORE
TARGET = "Paris is old and Paris is big."
PATHS = {"family", "stack", "attention", "output", "projections", "positions", "when"}
"""Parts of a layout that differ without being another kind."""
ROUNDING = 2e-5
"""Of blocks in float32, relative to their largest state, or to 20. The most on any processor so far is a fifth of it:
umT5's, whose scores are not scaled. A wrong block is off by 0.01 and more (test_blocks), and float64 by 1e-11."""


def outputs_of(model: Any, name: str, inputs: dict[str, Tensor]) -> tuple[Any, dict[str, list[Tensor]]]:
    """Return a model's result and the outputs of W_O by layer; ALBERT's layers share one W_O."""
    modules, outputs = dict(model.named_modules()), dict[str, list[Tensor]]()
    for stack, pattern in EVERY[name].outputs.items():
        places = dict.fromkeys(pattern.format(i=i, block=i // 2, place=i % 2) for i in range(5))
        for module in filter(None, map(modules.get, places)):
            stack_outputs = outputs.setdefault(stack, [])
            module.register_forward_hook(lambda _, __, out, stack_outputs=stack_outputs: stack_outputs.append(out[0]))
    with torch.inference_mode():
        return model(**inputs, output_attentions=True, output_hidden_states=True), outputs


def check_projections(text_capture: Capture) -> None:
    """Assert that V is x W_V, normed or not, and Q and K too exactly where the layer does not modify them."""
    for call in (call for calls in text_capture.stacks.values() for call in calls):
        p = call.projections
        parts = (
            (call.x, p.w_q, p.b_q, call.q),
            (call.memory, p.w_k, p.b_k, call.k),
            (call.memory, p.w_v, p.b_v, call.v),
        )
        projected = [
            (x @ w + (0 if b is None else b)).unflatten(-1, (len(expected), -1)).transpose(0, 1)
            for x, w, b, expected in parts
        ]
        if call.value_eps is not None:
            projected[2] = projected[2] / (projected[2].square().mean(-1, keepdim=True) + call.value_eps).sqrt()
        errors = [float((ours - part[-1]).abs().max()) for ours, part in zip(projected, parts, strict=True)]
        scale = 1e-5 * max(1.0, float(call.q.abs().max()))
        assert errors[2] < 1e-5 * max(1.0, float(call.v.abs().max()))
        assert [error < scale for error in errors[:2]] == [not call.rotation] * 2


def one_of_each_kind() -> set[str]:
    """Return the families of other tests, and the first of each kind: those whose layouts set the same things."""
    first: dict[frozenset[str], str] = {}
    for layout in layouts():
        different = {name for name in vars(layout) if getattr(layout, name) != getattr(layouts()[0], name)}
        first.setdefault(frozenset(different - PATHS), layout.family)
    return {*FAMILIES, *first.values()}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in one_of_each_kind() else pytest.mark.long) for name in EVERY]
)
def test_family_equals_transformers(name, checkpoint, load_family):
    ours, theirs = load_family(name), eager(name, checkpoint(name))
    inputs = {"input_ids": ours.tokenizer(TEXT, return_tensors="pt").input_ids}
    pair = theirs.config.is_encoder_decoder
    if pair:
        target_ids = ours.tokenizer(TARGET).input_ids[:-1]
        inputs["decoder_input_ids"] = torch.tensor([[theirs.config.decoder_start_token_id, *target_ids]])
    result, outputs = outputs_of(theirs, name, inputs)
    text_capture = capture(ours, TEXT, target=TARGET if pair else None)
    stacks = (
        {stack: result[f"{stack}_attentions"] for stack in outputs}
        if pair
        else {next(iter(outputs)): result.attentions}
    )
    # A state that all tokens pass through hands the rounding of the first on to the last.
    family, rounding = EVERY[name], 1e-4 if name == "jamba" else 1e-5
    assert ours.n_heads == family.n_heads
    assert (text_capture.n_heads, len(text_capture.calls[0].k)) == (family.n_heads, family.n_kv_heads)
    for stack, layers in stacks.items():
        maps = comparable_maps(name, text_capture, layers, stack)
        layer_outputs = outputs[stack]
        # Layers of linear attention have a W_O too.
        if len(layer_outputs) > len(maps):
            layer_outputs = [layer_outputs[number] for number in text_capture.numbers]
        for i, ((our_weights, weights), output) in enumerate(zip(maps, layer_outputs, strict=True)):
            trace = text_capture.multi_head(i, stack=stack)
            assert_close(our_weights, weights, atol=rounding, rtol=0)
            assert weights.amax(-1).mean() > 2 / weights.shape[-1], "otherwise a replay without scores would pass"
            assert_close(trace.output, output, atol=rounding * float(output.abs().max()), rtol=0)
    final = result.encoder_hidden_states[-1] if pair else result.hidden_states[-1]
    # CLIP's last hidden state is not behind its final norm.
    if theirs.base_model is theirs and not pair:
        final = getattr(result, "last_hidden_state", final)
    assert_close(text_capture.final, final[0], atol=rounding * float(final.abs().max()), rtol=0)
    check_projections(text_capture)
    for layout in block_layouts():
        if layout.fits(theirs.config) and layout.is_whole:
            blocks = model_blocks(ours, text_capture, layout.stack)
            largest = max(float(state.abs().max()) for state in blocks.states)
            assert blocks.state_error(blocks.run()) < ROUNDING * max(20.0, largest)
    assert ours.max_tokens <= 61 and len(capture(ours, "e " * 200).tokens.ids) == ours.max_tokens
    assert ours.embeddings([5, 7]).shape == (2, ours.width)


def test_albert_layers_share_weights(tmp_path):
    model = open_folder(save("albert", tmp_path / "albert", num_hidden_layers=3, num_hidden_groups=1))
    first, *later_layers = model.layers
    assert len(later_layers) == 2
    for layer in later_layers:
        assert layer.attention is not first.attention
        assert layer.projections[0].weight is first.projections[0].weight
    without = capture(model, TEXT, heads_off=frozenset({(1, 2)}))
    before = capture(model, TEXT)
    assert_close(without.calls[1].x, before.calls[1].x)
    assert (without.calls[2].x - before.calls[2].x).abs().max() > 1e-2
    with pytest.raises(ModelError, match="inner_group_num"):
        open_folder(save("albert", tmp_path / "deep", inner_group_num=2))


def test_every_family_has_a_test():
    tested = {name.removesuffix("_mha") for name in FAMILIES} | set(MORE)
    assert tested | set(NEWER) | set(PICTURE_FAMILIES) == set(families())
    assert len(families()) >= 70


@pytest.mark.parametrize(("family", "kind"), [
    ("mamba", "recurrent"), ("zamba", "repeated"),
    ("longformer", "pattern"), ("funnel", "unseen"),
    ("diffllama", "difference"), ("deepseek_v4", "selected"), ("gemma3n_text", "streams"),
    ("muse_spark_text", "outputs"), ("zaya", "convolved"), ("dbrx", "clipped"), ("jetmoe", "routed"),
    ("t5gemma2", "merged"), ("yoso", "approximate"), ("fnet", "fourier"), ("perceiver", "latents"),
    ("mobilebert", "sources"), ("xmod", "language"), ("blt", "patches"), ("encoder-decoder", "composed"),
    ("udop", "places"), ("kosmos_2_text_model", "outputs"),
    ("videoprism_text_model", "appended"), ("sam3_lite_text_text_model", "stretched"), ("evolla", "proteins"),
    ("gemma4_assistant", "assistant"), ("pi0", "actions"), ("timesfm", "series"), ("whisper", "sound"),
    ("sam", "vision"),
])  # fmt: skip
def test_unsupported_family_error_has_reason(family, kind):
    entry = Entry(id="theirs")
    with pytest.raises(ModelError) as error:
        check_family(entry, family)
    assert error.value.code == f"family_{kind}"
    for lang in LANGUAGES:
        sentence = translator(lang)(f"error.{error.value.code}", **error.value.values)
        assert family in sentence and "theirs" in sentence
        assert f"error.family_{kind}" in sentences(lang)


def test_decided_families_are_known():
    """By the transformers installed here, or else by the newer one that the table names and the requirements allow."""
    decided = {
        *families(),
        *families(maps_only=True),
        *(name for names in different_families().values() for name in names),
    }
    newer = {name for name, first in first_versions().items() if Version(first) > Version(transformers.__version__)}
    # It is published with code of its own, under a name that transformers has not.
    own_code = {"kimi_k2"}
    assert decided - set(transformers.CONFIG_MAPPING) == newer | own_code
    assert set(NEWER) == newer & set(families())
    required = re.search(r"\ntransformers>=([\d.]+),<=([\d.]+)", (ROOT / "requirements.txt").read_text("utf8"))
    assert required
    lowest, highest = map(Version, required.groups())
    assert all(lowest < Version(first) <= highest for first in first_versions().values())
    assert set(first_versions()) <= decided


@pytest.mark.parametrize("family", sorted(first_versions().keys() & set(families())))
def test_newer_family_error_names_version(family, monkeypatch):
    """A family that the installed transformers lacks is refused with the version that has it."""
    monkeypatch.setattr("transformers.CONFIG_MAPPING", {"bert": transformers.BertConfig})
    check_family(Entry(id="theirs"), "bert")
    with pytest.raises(ModelError) as error:
        check_family(Entry(id="theirs"), family)
    assert error.value.code == "family_newer"
    for lang in LANGUAGES:
        sentence = translator(lang)("error.family_newer", **error.value.values)
        assert all(part in sentence for part in (family, first_versions()[family], transformers.__version__))


MAPPINGS = ("CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "MASKED_LM", "TEXT_ENCODING")


def test_families_of_transformers_are_decided():
    """Each family that transformers has a model of is shown, or refused by its name, itself or by its text part."""
    from transformers.models.auto import modeling_auto

    lists = [getattr(modeling_auto, f"MODEL_FOR_{name}_MAPPING_NAMES") for name in MAPPINGS]
    names = {name for list_ in (*lists, modeling_auto.MODEL_MAPPING_NAMES) for name in list_}
    assert len(names) > 500
    families_with_maps = {*families(), *families(maps_only=True)}
    names_without_row = {name for name in names if name not in families_with_maps and not refused_kind(name)}
    parts = {name: transformers.CONFIG_MAPPING[name].sub_configs.get("text_config") for name in names_without_row}
    assert [name for name, part in parts.items() if part is None] == []
    text_families = {name: transformers.CONFIG_MAPPING[name]().text_config.model_type for name in parts}
    assert {
        name: part for name, part in text_families.items() if part not in families() and not refused_kind(part)
    } == {}


def test_every_reason_has_a_sentence():
    """In both languages, for each kind of difference."""
    for lang in LANGUAGES:
        assert {f"error.family_{kind}" for kind in different_families()} <= set(sentences(lang))


def test_gpt_sw3_is_read_as_gpt2(tmp_path):
    """Its configuration says gpt-sw3, and transformers reads it with GPT-2's code."""
    folder = save("gpt2", tmp_path / "sw3")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "gpt-sw3"}))
    ours = open_folder(folder)
    assert ours.model.config.model_type == "gpt-sw3"
    ids = torch.tensor([capture(ours, TEXT).tokens.ids])
    with torch.inference_mode():
        maps = eager("gpt2", folder)(input_ids=ids, output_attentions=True).attentions
    for i, weights in enumerate(maps):
        assert_close(capture(ours, TEXT).layer(i).weights, weights[0], atol=1e-5, rtol=0)


def test_no_family_is_supported_and_refused():
    """No family is both shown and refused."""
    with pytest.raises(ModelError):
        check_family(Entry(id="theirs"), "zamba2")
    unsupported = [name for names in different_families().values() for name in names]
    assert not set(unsupported) & {*families(), *families(maps_only=True)} and len(unsupported) == len(set(unsupported))


REFUSED_SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "olmo": ("clipped", {"clip_qkv": 8.0}),
    "laguna": ("uneven", {"num_attention_heads_per_layer": [6, 4]}),
    "step3p5": ("uneven", {"num_sliding_attention_heads": 8}),
}
"""Settings with which a model of a family is refused: clipped q, k and v, or more heads in some layers than others."""


@pytest.mark.parametrize("name", REFUSED_SETTINGS)
def test_settings_that_cannot_be_shown(name, tmp_path):
    """By what is different about the model, before its weights are read."""
    kind, settings = REFUSED_SETTINGS[name]
    folder = save(name, tmp_path / "theirs", **settings)
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError) as error:
        open_folder(folder)
    assert error.value.code == f"family_{kind}"
    for lang in LANGUAGES:
        sentence = translator(lang)(f"error.{error.value.code}", **error.value.values)
        assert name in sentence and "theirs" in sentence


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("llama", torch.float16),
        *((name, torch.bfloat16) for name in ("cohere2", "modernbert", "mbart", "t5gemma", "beam", *TODAY)),
    ],
)
def test_half_precision_weights_are_read_exactly(name, kind, tmp_path):
    """The model is in float32 with the file's rounded numbers: the maps are those of transformers on the same."""
    folder = save(name, tmp_path / name)
    model = eager(name, folder).to(kind)
    model.save_pretrained(folder)
    ours, theirs = open_folder(folder), eager(name, folder)
    assert next(theirs.parameters()).dtype == torch.float32
    ids = ours.tokenizer(TEXT, return_tensors="pt").input_ids
    pair = theirs.config.is_encoder_decoder
    with torch.inference_mode():
        result = theirs(input_ids=ids, output_attentions=True, **({"decoder_input_ids": ids} if pair else {}))
    maps = result.encoder_attentions if pair else result.attentions
    text_capture = capture(ours, TEXT)
    for i, weights in enumerate(maps):
        assert_close(text_capture.layer(i).weights, weights[0], atol=1e-5, rtol=0)


def test_table_of_families_has_every_family():
    """Every family is in the table once, supported or refused; a command writes the table."""
    rows = (ROOT / "viz" / "models" / "FAMILIES.md").read_text("utf-8").splitlines()
    table_rows = [tuple(row.split(" | ")[:2]) for row in rows if row.startswith("| ")][1:]
    unsupported = {name for names in different_families().values() for name in names}
    assert len(table_rows) == len(set(table_rows))
    assert {name.strip("| ") for name, status in table_rows if status.startswith("yes")} == set(families())
    assert {name.strip("| ") for name, status in table_rows if status == "maps"} == set(families(maps_only=True))
    assert {name.strip("| ") for name, status in table_rows if status.startswith("no: ")} == unsupported


@pytest.mark.parametrize("name", [*TODAY, "beam", "cohere2_moe", "cohere_compass_text"])
def test_padded_batch_first_layer_equals(name, tmp_path):
    """A text that is filled up on the left, as transformers' batch reads it; both texts are longer than the window."""
    folder = save(name, tmp_path / name)
    ours, theirs = open_folder(folder), eager(name, folder)
    text_capture = capture(ours, TEXT)
    ids = torch.tensor([text_capture.tokens.ids])
    real = torch.ones_like(ids)
    real[:, :3] = 0
    with torch.inference_mode():
        weights = theirs(input_ids=ids, attention_mask=real, output_attentions=True).attentions[0][0]
        logits = theirs(input_ids=ids).logits
    allowed = Mask(kind="padding", pad=3, pad_left=True).allowed(ids.shape[1], ids.shape[1])
    ours_of_layer = text_capture.layer(0, allowed=allowed).weights
    assert_close(ours_of_layer[:, 3:, 3:], weights[:, 3:, 3:], atol=1e-5, rtol=0)
    assert (ours_of_layer[:, 3:, :3] == 0).all() and ids.shape[1] > 10
    with torch.inference_mode():
        assert_close(ours.model(input_ids=ids).logits, logits, atol=1e-5 * float(logits.abs().max()), rtol=0)


def test_shared_keys_are_those_of_source(tmp_path):
    """Gemma 4's last layers read keys and values of the last layer of their kind that makes some."""
    model = open_folder(save("gemma4_text", tmp_path / "gemma4"))
    calls = capture(model, TEXT).calls
    assert [call.source for call in calls] == [None, None, None, 1, 1]
    for call in calls:
        if call.source is not None:
            source = calls[call.source]
            assert_close((call.k, call.v), (source.k, source.v), atol=0, rtol=0)
            assert_close(call.memory, source.memory, atol=0, rtol=0)
            assert torch.equal(call.projections.w_k, source.projections.w_k)
            assert not call.has_own_values


@pytest.mark.parametrize("name", ["gemma4_text", "gemma4_unified_text"])
def test_key_projection_as_values(name, tmp_path):
    """Gemma 4's large models use W_K as W_V in layers that see the whole text, and experts beside the network."""
    experts = {"enable_moe_block": True, "num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 20}
    changes = {"attention_k_eq_v": True, "num_kv_shared_layers": 0, "num_global_key_value_heads": 3}
    folder = save(name, tmp_path / name, **changes, **(experts if name == "gemma4_text" else {}))
    ours, theirs = open_folder(folder), eager(name, folder)
    text_capture = capture(ours, TEXT)
    with torch.inference_mode():
        maps = theirs(input_ids=torch.tensor([text_capture.tokens.ids]), output_attentions=True).attentions
    for i, weights in enumerate(maps):
        assert_close(text_capture.layer(i).weights, weights[0], atol=1e-5, rtol=0)
    call = text_capture.calls[1]
    assert torch.equal(call.projections.w_k, call.projections.w_v)
    assert not torch.equal(text_capture.calls[0].projections.w_k, text_capture.calls[0].projections.w_v)
    check_projections(text_capture)
