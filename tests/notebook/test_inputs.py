"""`viz.show` reads a text in any form as its model would, and notes what it left out."""

import numpy as np
import pytest
import torch
import transformers
from torch.testing import assert_close

import viz
from tests import checkpoints
from tests.notebook.samples import fast
from viz.models.spelling.pieces import spell

TEXT = "The quick brown fox jumps over the lazy dog. "
GPT2 = {"vocab_size": checkpoints.VOCABULARY, "n_embd": 40, "n_layer": 2, "n_head": 4, "n_positions": 64}


@pytest.fixture(scope="module")
def gpt2():
    config = transformers.GPT2Config(**GPT2, bos_token_id=None, eos_token_id=None)
    return transformers.GPT2LMHeadModel(config).eval()


@pytest.fixture(scope="module")
def bert():
    return transformers.BertModel(transformers.BertConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.BERT)).eval()


@pytest.mark.parametrize(("form", "limit", "read"), [("text", 61, 61), ("text", 10**30, 64), ("ids", 61, 64)])
def test_show_long_text_is_cut(gpt2, limit, read, form):
    """A text by the tokenizer's limit or the model's, and ids by the model's: the note says by which."""
    tokenizer = fast("bytes", limit)
    ids = tokenizer(TEXT * 20, verbose=False)["input_ids"]
    grid = viz.show(gpt2, tokenizer, {"text": TEXT * 20, "ids": ids}[form])
    assert len(grid.tokens[0]) == read
    why = "the model reads no more at once" if read == 64 else "the tokenizer's model_max_length names no more"
    assert grid.notes == [f"{read} of {len(ids)} tokens are shown: {why}."]


SIZES = {"vocab_size": checkpoints.VOCABULARY, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48}
PLACES = SIZES | {"num_hidden_layers": 1, "max_position_embeddings": 19, "pad_token_id": 1}
TOWER = SIZES | {"num_hidden_layers": 1, "image_size": 28, "patch_size": 14}


def with_places(family):
    """A model of a family, whose configuration names 19 places for the text."""
    torch.manual_seed(0)
    sizes = {name: value for name, value in PLACES.items() if name != "pad_token_id" or family != "gptj"}
    if family == "llava":
        config = transformers.LlavaConfig(
            text_config=sizes | {"model_type": "llama"}, vision_config=TOWER | {"model_type": "clip_vision_model"},
            image_token_index=7,
        )  # fmt: skip
        return transformers.LlavaForConditionalGeneration(config).eval()
    if family == "bert2bert":
        halves = [transformers.BertConfig(**sizes | {"max_position_embeddings": places}) for places in (19, 5)]
        config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*halves)
        config.decoder_start_token_id = 3
        return transformers.EncoderDecoderModel(config).eval()
    # The encoder of FSMT has no configuration of its own.
    fsmt = {f"{half}_{name}": n for half in ("encoder", "decoder") for name, n in (("layers", 1), ("ffn_dim", 48))}
    fsmt |= {f"{half}_vocab_size": checkpoints.VOCABULARY for half in ("src", "tgt")} | {"decoder_attention_heads": 4}
    extras = {"gptj": {"rotary_dim": 4}, "layoutlm": {"max_2d_position_embeddings": 7}, "fsmt": fsmt}
    extra = extras.get(family, {})
    return transformers.AutoModel.from_config(transformers.AutoConfig.for_model(family, **sizes | extra)).eval()


@pytest.mark.parametrize(
    ("family", "read"),
    [("roberta", 17), ("nystromformer", 19), ("layoutlm", 19), ("gptj", 19), ("bert2bert", 19), ("llama", 40),
     ("nomic_bert", 40), ("llava", 40), ("t5", 40), ("fsmt", 40)],
)  # fmt: skip
def test_longest_text_is_refusal(family, read):
    """The module that reads the ids is asked: a tower's table, the decoder's and a number in a file are no limit."""
    model = with_places(family)
    target = {"target": [9, 7, 9]} if model.config.is_encoder_decoder else {}
    grid = viz.show(model, fast("wordpiece", 10**30), [9, 7] * 20, **target)
    assert len(grid.tokens[0]) == read
    cut = f"{read} of 40 tokens are shown: the model reads no more at once."
    assert grid.notes.count(cut) == (read < 40)
    if target:
        return
    with torch.inference_mode():
        model(input_ids=torch.tensor([[9, 7] * 20])[:, :read])
        if read < 40:
            with pytest.raises((IndexError, RuntimeError)):
                model(input_ids=torch.tensor([[9, 7] * 20])[:, : read + 1])


def test_longest_target_by_own_table():
    """Of an encoder and a decoder each text is cut by its own table, and the target is still read."""
    grid = viz.show(with_places("bert2bert"), fast("wordpiece", 10**30), [9, 7] * 20, target=[9, 7] * 4, stack="cross")
    assert grid.weights.shape == (5, 19)
    assert [note.split(" are shown")[0] for note in grid.notes] == ["19 of 40 tokens", "5 of 8 tokens of the target"]


def test_show_places_of_picture_stay():
    """Ids with places for a picture and its pixels are read as the model reads them."""
    model = with_places("llava")
    inputs = {"input_ids": torch.tensor([[5, 7, 7, 7, 7, *[9, 8] * 10]]), "pixel_values": torch.rand(1, 3, 28, 28)}
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        expected = model(**inputs, output_attentions=True).attentions[0][0, 0]
    assert_close(torch.tensor(viz.show(model, fast("wordpiece", 10**30), inputs).weights), expected)


def test_show_cut_needs_text_alone(gpt2):
    """Inputs without a number for each of too many ids do not fit a part of them."""
    with pytest.raises(ValueError, match=r"reads 64 tokens at once, and these are 80 beside inputs_of_a_picture"):
        viz.show(gpt2, fast("bytes"), {"input_ids": [[9, 7] * 40], "inputs_of_a_picture": torch.rand(1, 3, 4)})


@pytest.mark.parametrize("text", ["", [], "   "])
def test_show_empty_text_raises(bert, text):
    with pytest.raises(ValueError, match="There is no token in this text"):
        viz.show(bert, fast("wordpiece"), text)


def test_show_unknown_token_id_raises(gpt2):
    with pytest.raises(ValueError, match="number 5000, the model knows 331"):
        viz.show(gpt2, fast("bytes"), [3, 5000])


def test_show_refused_inputs_raises(bert):
    inputs = {"input_ids": [3, 4], "token_type_ids": [0, 9]}
    with pytest.raises(ValueError, match=r"BertModel could not read this \(IndexError.*token_type_ids 1 × 2"):
        viz.show(bert, fast("wordpiece"), inputs)


@pytest.mark.parametrize("pair", [("The cat sat.", "The cat lay."), ["The cat sat.", "Paris is old."]])
def test_show_pair_has_segments(bert, pair):
    tokenizer = fast("wordpiece")
    inputs = tokenizer(*pair, return_tensors="pt")
    bert.set_attn_implementation("eager")
    with torch.inference_mode():
        expected = bert(**inputs, output_attentions=True).attentions[1][0, 2]
    grid = viz.show(bert, tokenizer, pair, layer=1, head=2)
    assert_close(torch.tensor(grid.weights), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("dtype", ["u2", "u4", "i1"])
def test_show_ids_of_every_type(gpt2, dtype):
    """Data sets keep ids in as few bits as they fit."""
    want = viz.show(gpt2, fast("bytes"), [5, 7, 9])
    assert viz.show(gpt2, fast("bytes"), np.array([5, 7, 9], dtype)).tokens == want.tokens
    assert viz.show(gpt2, fast("bytes"), torch.tensor([5, 7, 9], dtype=torch.uint16)).tokens == want.tokens


def test_show_processor_has_tokenizer(gpt2):
    """A processor reads pictures too, and takes a text by its name."""

    class Processor:
        tokenizer = fast("bytes")

        def __call__(self, images=None, text=None):
            return self.tokenizer(text)

    assert viz.show(gpt2, Processor(), "The animal").tokens == viz.show(gpt2, fast("bytes"), "The animal").tokens


@pytest.mark.parametrize("part", ["get_encoder", "get_decoder"])
def test_show_half_of_two_reads_one(part):
    """The encoder or the decoder of a model with both has its configuration, and reads no target."""
    config = transformers.BartConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.BART | {"d_model": 40})
    half = getattr(transformers.BartForConditionalGeneration(config).eval(), part)()
    grid = viz.show(half, fast("metaspace"), "The animal")
    assert grid.weights.shape == (6, 6)


@pytest.mark.parametrize("form", [list, tuple])
def test_show_two_texts_decoder_raises(gpt2, form):
    """A decoder would read the second text as what follows the first; the line for that is in the sentence."""
    texts, tokenizer = form(["The animal", "Paris is old."]), fast("bytes")
    with pytest.raises(ValueError, match=r"2 texts, and GPT2LMHeadModel looks back only.*texts\[0\].*\*texts\)\)"):
        viz.show(gpt2, tokenizer, texts)
    assert viz.show(gpt2, tokenizer, tokenizer(*texts)).notes == []
    assert viz.show(gpt2, tokenizer, form(["The animal"])).notes == []


@pytest.mark.parametrize("side", ["left", "right"])
def test_show_padding_is_omitted(gpt2, side):
    """Its rows and columns are; what remains is as without it."""
    ids = fast("bytes")("The animal")["input_ids"]
    places = range(len(ids))
    padded_inputs = {
        "input_ids": torch.tensor([[0, 0, 0, *ids] if side == "left" else [*ids, 0, 0, 0]]),
        "attention_mask": torch.tensor(
            [[0, 0, 0, *([1] * len(ids))] if side == "left" else [*([1] * len(ids)), 0, 0, 0]]
        ),
        "position_ids": torch.tensor([[0, 0, 0, *places] if side == "left" else [*places, 0, 0, 0]]),
    }
    grid, alone = viz.show(gpt2, fast("bytes"), padded_inputs), viz.show(gpt2, fast("bytes"), ids)
    assert_close(torch.tensor(grid.weights), torch.tensor(alone.weights), atol=1e-6, rtol=0)
    assert grid.notes == ["3 padding tokens are left out."]


def test_show_attentions_tokenizer_names_ids(gpt2):
    tokenizer = fast("bytes")
    inputs = tokenizer("The animal", return_tensors="pt")
    gpt2.set_attn_implementation("eager")
    with torch.inference_mode():
        attentions = gpt2(**inputs, output_attentions=True).attentions
    want = viz.show(gpt2, tokenizer, "The animal").tokens
    for text in (inputs["input_ids"], inputs, "The animal", ("The", " animal")):
        assert viz.show(attentions, tokenizer, text).tokens == want


def test_show_bytes_of_latin_letters(gpt2):
    """ByT5 names each byte by a letter of Latin-1; its tokenizer has no fast form."""
    tokenizer = transformers.ByT5Tokenizer()
    ids = tokenizer("é 猫")["input_ids"]
    want = ("é₁", "é₂", "␣", "猫₁", "猫₂", "猫₃", "</s>")
    weights = torch.eye(len(ids))[None, None]
    assert viz.show(gpt2, tokenizer, "é 猫").tokens[0] == want
    assert viz.show([weights], tokenizer, ids).tokens[0] == want
    assert viz.show([weights], tokenizer.convert_ids_to_tokens(ids)).tokens[0] == want


def test_byte_level_tokens_are_readable():
    """Without a tokenizer too; words of Polish or French in the same letters stay."""
    maps = torch.full((1, 1, 2, 2), 0.5)
    assert viz.show([maps], ["ä½łå¥½", "!"]).tokens[0] == ("你好", "!")
    assert viz.show([maps], [b"caf\xc3", b"\xa9"]).tokens[0] == ("café₁", "é₂")
    assert viz.show([maps], ["być", "Łódź"]).tokens[0] == ("być", "Łódź")
    assert spell([b"\xff", "[X]", b"ok"]) == ("⟨FF…⟩", "[X]", "ok")
