"""`viz.show` tells forms of attentions apart by names, nesting and shapes, and numbers layers as their model does."""

from inspect import signature
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from torch.testing import assert_close
from traitlets import TraitError

import viz
from tests import checkpoints
from tests.notebook.samples import WORDS, fast, layer


@pytest.fixture(scope="module")
def writer():
    """A small decoder with eager attention, and its tokenizer."""
    config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.LLAMA)
    config.eos_token_id = config.bos_token_id = None
    model = transformers.LlamaForCausalLM(config).eval()
    model.set_attn_implementation("eager")
    return model, fast("bytes")


@pytest.mark.parametrize("form", ["attentions", "output"])
@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("n", [1, 3])
def test_generate_of_n_tokens_is_stitched(writer, n, use_cache, form):
    """Three steps are no (encoder, decoder, cross); the map is that of one pass over the text."""
    model, tokenizer = writer
    inputs = tokenizer("The animal", return_tensors="pt")
    out = model.generate(
        **inputs, max_new_tokens=n, do_sample=False, use_cache=use_cache, output_attentions=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    attentions = out.attentions if form == "attentions" else out
    grid = viz.show(attentions, tokenizer.convert_ids_to_tokens(out.sequences[0]), layer=1, head=2)
    with torch.inference_mode():
        expected = model(out.sequences[:, :-1], output_attentions=True).attentions[1][0, 2]
    assert_close(torch.tensor(grid.weights), expected, atol=1e-6, rtol=0)
    assert len(grid.tokens[0]) == len(expected) and "written and not read" in grid.notes[0]


@pytest.mark.parametrize("cache", ["static", "window"])
def test_generate_with_another_cache_is_stitched(cache):
    """A cache with room to spare has columns of zeros; one of a window keeps the last keys alone."""
    expected = torch.ones(5, 5).tril().triu(-2)
    expected = (expected / expected.sum(-1, keepdim=True))[None, None]
    first, rest = expected[:, :, :3, :3], [expected[:, :, i : i + 1] for i in (3, 4)]
    if cache == "static":
        steps = [torch.nn.functional.pad(first, (0, 4)), *(torch.nn.functional.pad(row, (0, 2)) for row in rest)]
    else:
        steps = [first, *(row[..., i - 2 : i + 1] for i, row in zip((3, 4), rest, strict=True))]
    grid = viz.show(tuple((step,) for step in steps), [*WORDS, "next"])
    assert_close(torch.tensor(grid.weights), expected[0, 0])


def test_generate_encoder_decoder_is_stitched(tmp_path):
    """Its decoder and cross attentions come in steps, its encoder's do not."""
    folder = checkpoints.save("bart", tmp_path / "bart")
    model = transformers.BartForConditionalGeneration.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = torch.tensor([[5, 9, 7, 3]])
    out = model.generate(
        inputs, max_new_tokens=3, min_new_tokens=3, num_beams=1, do_sample=False, output_attentions=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    for attentions in (out, (out.encoder_attentions, out.decoder_attentions, out.cross_attentions)):
        grid = viz.show(attentions, (inputs[0], out.sequences[0]), stack="cross", layer=2)
        with torch.inference_mode():
            read = model(inputs, decoder_input_ids=out.sequences[:, :-1], output_attentions=True)
        assert_close(torch.tensor(grid.weights), read.cross_attentions[2][0, 0], atol=1e-6, rtol=0)


def test_generate_without_cache_is_stitched(tmp_path):
    """Each step has all rows again, those of the cross-attention too: the last one has every row once."""
    folder = checkpoints.save("bart", tmp_path / "bart")
    model = transformers.BartForConditionalGeneration.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs, maps = tokenizer("The animal", return_tensors="pt"), {"output_attentions": True}
    options = maps | {"max_new_tokens": 4, "min_new_tokens": 4, "num_beams": 1, "return_dict_in_generate": True}
    out = model.generate(**inputs, **options, do_sample=False, use_cache=False)
    with torch.inference_mode():
        want = model(**inputs, decoder_input_ids=out.sequences[:, :-1], **maps).cross_attentions[1][0, 0]
    source, target = (list(map(str, ids[0].tolist())) for ids in (inputs["input_ids"], out.sequences))
    grid = viz.show(out, (source, target), stack="cross", layer=1)
    assert_close(torch.tensor(grid.weights), want, atol=1e-6, rtol=0)


def test_generate_with_assistant_is_refused(writer):
    """transformers cuts the first step after the prompt out of the rows of the prompt itself."""
    model, tokenizer = writer
    inputs = tokenizer("The animal", return_tensors="pt")
    options = {"max_new_tokens": 8, "min_new_tokens": 8, "do_sample": False, "output_attentions": True}
    out = model.generate(**inputs, **options, return_dict_in_generate=True, assistant_model=model)
    with pytest.raises(ValueError, match="gives it no weight in any head of layer 0"):
        viz.show(out, tokenizer.convert_ids_to_tokens(out.sequences[0]))


def test_generate_prompt_lookup_window_refused(writer):
    """Of a guessed token a window's keys go on behind it, so they do not end at it as those of other steps."""
    torch.manual_seed(0)
    sizes = {
        "vocab_size": checkpoints.VOCABULARY, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "eos_token_id": None, "sliding_window": 6,
        "layer_types": ["full_attention", "sliding_attention"],
    }  # fmt: skip
    model = transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**sizes)).eval()
    model.set_attn_implementation("eager")
    ids = torch.tensor([[5, 7, 9, 11, 13, 15] * 3])
    options = {"max_new_tokens": 9, "do_sample": False, "output_attentions": True, "return_dict_in_generate": True}
    labels = list(map(str, range(27)))
    out = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
    with torch.inference_mode():
        expected = model(out.sequences[:, :-1], output_attentions=True).attentions[1][0, 0]
    assert_close(torch.tensor(viz.show(out, labels, layer=1).weights), expected, atol=1e-6, rtol=0)
    out = model.generate(ids, attention_mask=torch.ones_like(ids), **options, prompt_lookup_num_tokens=3)
    with pytest.raises(ValueError, match=r"no weight in any head of layer 1.*prompt lookup.*sequences\[0\]"):
        viz.show(out, labels)


def test_steps_run_by_hand_are_stitched(writer):
    """Steps with a cache, as ``generate()`` keeps them; without the first, rows are missing."""
    model, _ = writer
    ids, options = torch.arange(5, 10)[None], {"output_attentions": True, "use_cache": True}
    name = "cache" if "cache" in signature(model.forward).parameters else "past_key_values"
    with torch.inference_mode():
        first = model(ids[:, :3], **options)
        second = model(ids[:, 3:], **options, **{name: first[name]})
        expected = model(ids, output_attentions=True).attentions[1][0, 2]
    steps = [first.attentions, second.attentions]
    assert_close(torch.tensor(viz.show(steps, WORDS, layer=1, head=2).weights), expected, atol=1e-6, rtol=0)
    with pytest.raises(
        ValueError, match=r"weights on 5 keys, and its rows .* are 2: a part of the text was read before"
    ):
        viz.show(steps[1:], WORDS)


def test_several_texts_are_no_two_stacks():
    with pytest.raises(ValueError, match=r"Of several texts of one model hand over one, attentions\[0\]"):
        viz.show([(layer(), layer())] * 2, WORDS)


def test_several_beams_are_refused():
    steps = ((layer(3, 3).expand(2, -1, -1, -1),), (layer(1, 4).expand(2, -1, -1, -1),))
    with pytest.raises(ValueError, match="2 texts or beams at once: let it write one text, with num_beams=1"):
        viz.show(steps, WORDS)


def test_nested_lists_are_layers():
    """Nested lists of numbers, as JSON has them, are no tuple of stacks."""
    layers = [layer(seed=i) for i in range(3)]
    grid = viz.show([part.tolist() for part in layers], WORDS, layer=2)
    assert_close(torch.tensor(grid.weights), layers[2][0, 0])


@pytest.mark.parametrize("form", ["tuple", "layers="])
def test_layers_keep_their_numbers(form):
    """A place in the tuple with None, or numbers beside it."""
    makers = {
        "tuple": lambda: viz.show((None, layer(), None, layer(seed=1)), WORDS),
        "layers=": lambda: viz.show((layer(), layer(seed=1)), WORDS, layers=[1, 3]),
    }
    grid = makers[form]()
    assert grid.layer == 1 and "layers 1, 3, numbered as in the model" in grid.notes[0]
    grid.layer = 3
    assert_close(torch.tensor(grid.weights), layer(seed=1)[0, 0])
    with pytest.raises(TraitError, match="layer=2 has no maps here: the layers that have some are 1, 3"):
        grid.layer = 2
    assert '"numbers": [1, 3]' in bytes(grid.data)[:2_000].decode("utf8", "ignore")


def test_hybrid_layers_are_numbered(writer):
    """Of four layers the second and the fourth attend; the model hands over two maps and no None."""
    sizes = {
        "vocab_size": checkpoints.VOCABULARY, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "num_experts": 2, "num_experts_per_tok": 1,
        "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, "linear_num_value_heads": 4,
        "linear_num_key_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
        "layer_types": ["linear_attention", "full_attention"] * 2,
    }  # fmt: skip
    model = transformers.Qwen3NextForCausalLM(transformers.Qwen3NextConfig(**sizes)).eval()
    grid = viz.show(model, writer[1], "The animal", layer=3)
    assert "layers 1, 3" in grid.notes[0]
    with pytest.raises(TraitError):
        grid.layer = 0


def test_one_matrix_is_one_head():
    """nn.MultiheadAttention gives the mean of its heads, with a batch of one."""
    x = torch.randn(1, 5, 16, generator=torch.Generator().manual_seed(0))
    attention = torch.nn.MultiheadAttention(16, 4, batch_first=True).eval()
    mean = attention(x, x, x)[1].detach()
    for attentions in (mean[0], mean, [mean[0]], [mean], mean.numpy(), mean[0].tolist()):
        assert_close(torch.tensor(viz.show(attentions, WORDS).weights), mean[0])
    every = attention(x, x, x, average_attn_weights=False)[1].detach()
    assert_close(torch.tensor(viz.show(every, WORDS, head=3).weights), every[0, 3])


def test_ambiguous_shape_raises():
    """(n, Q, K) may be either, where nothing else tells."""
    with pytest.raises(ValueError, match="2 heads of one text or one map for each of 2 texts"):
        viz.show([layer()[0, :2]], WORDS)
    assert "as 3 heads of one text" in viz.show([layer()[0], layer()[0]], WORDS).notes[0]


@pytest.mark.parametrize("name", ["rectangle", "square", "prefix", "output"])
def test_rows_and_columns_have_their_tokens(name):
    """Two lists are those of the rows and of the columns, also if they are as long."""
    rows, columns = ["die", "Katze", "saß", "."], WORDS
    arguments = {
        "rectangle": ((layer(4, 5),), (rows, columns)),
        "square": ((layer(4, 4),), (rows, columns[:4])),
        "prefix": ((layer(4, 7),), (rows, ["p1", "p2", "p3", *rows])),
        "output": (SimpleNamespace(cross_attentions=(layer(4, 5),)), (columns, rows)),
    }[name]
    grid = viz.show(*arguments)
    want = (columns, rows)[::-1] if name == "output" else arguments[1]
    assert tuple(map(list, grid.tokens)) == tuple(map(list, want))


def test_a_rectangle_needs_two_lists():
    with pytest.raises(ValueError, match=r"4 × 5: hand over two lists of tokens, \(4 along the rows, 5 along"):
        viz.show((layer(4, 5),), WORDS)


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "mean", "two decimals", "8 bits"])
def test_rounded_weights_are_shown(kind):
    """The tolerance of a row's sum follows from the numbers' precision, not from their dtype."""
    exact = torch.randn(1, 4, 30, 30, generator=torch.Generator().manual_seed(0)) * 2
    exact = exact.masked_fill(torch.ones(30, 30).triu(1).bool(), -torch.inf).softmax(-1)
    rounded = {
        "bfloat16": exact.bfloat16().float(),
        "float16": exact.half().float(),
        "mean": exact.bfloat16().float().mean(1, keepdim=True),
        "two decimals": (exact * 100).round() / 100,
        "8 bits": (exact * 255).round() / 255,
    }[kind]
    for weights in (rounded, rounded.numpy(), rounded.double().numpy()):
        grid = viz.show([weights], [f"w{i}" for i in range(30)])
        assert not grid.notes and np.allclose(grid.weights, rounded[0, 0])


def test_missing_weight_has_column():
    """Sinks, blocks and cut columns leave a part of each row out; no cause is named."""
    part = layer()[..., :4, :4]
    grid = viz.show([part], WORDS[:4])
    assert grid.tokens[1] == (*WORDS[:4], "(missing)") and grid.weights.shape == (4, 4)
    assert "missing share" in grid.notes[0] and "sink" not in grid.notes[0]
    even = viz.show([torch.full((1, 3, 4, 4), 0.125)], WORDS[:4])
    assert even.notes[1].startswith("Rows sum to 0.500. "), "one sum, not from itself to itself"


@pytest.mark.parametrize("form", ["output", "steps", "stacks"])
def test_tuples_without_maps_are_refused(form):
    """Fused attention leaves an empty tuple at each step of ``generate()``; the sentence says how maps are kept."""
    steps = ((), (), (), (), ())
    forms = {"output": SimpleNamespace(decoder_attentions=steps), "steps": steps, "stacks": (None, None, ())}
    with pytest.raises(ValueError, match=r"without a single map: no weights were kept.*attn_implementation=\"eager\""):
        viz.show(forms[form], WORDS)
    with pytest.raises(ValueError, match="5 parts, with maps of 5 × 5, 7 × 7"):
        viz.show([(layer(),), (layer(7, 7),), *[(layer(),)] * 3], WORDS)
