"""`viz.show` reads a text in any form as its model would, and notes what it left out."""

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer
from torch.testing import assert_close

import viz
from tests import checkpoints
from viz.models.spelling.pieces import raw_parts, spell

TEXT = "The quick brown fox jumps over the lazy dog. "
GPT2 = {"vocab_size": checkpoints.VOCABULARY, "n_embd": 40, "n_layer": 2, "n_head": 4, "n_positions": 64}
NAMES = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}


def fast(kind, limit=61):
    names = {} if kind == "bytes" else NAMES
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=checkpoints.MAKERS[kind](), model_max_length=limit, **names
    )


@pytest.fixture(scope="module")
def gpt2():
    config = transformers.GPT2Config(**GPT2, bos_token_id=None, eos_token_id=None)
    return transformers.GPT2LMHeadModel(config).eval()


@pytest.fixture(scope="module")
def bert():
    return transformers.BertModel(transformers.BertConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.BERT)).eval()


class Tiktoken:
    """An encoding with the two methods of tiktoken's that are used."""

    def __init__(self):
        self.inner = fast("bytes").backend_tokenizer

    def encode(self, text):
        return self.inner.encode(text).ids

    def decode_single_token_bytes(self, token):
        return raw_parts(["Ġ", self.inner.id_to_token(token)])[1]


@pytest.mark.parametrize(("limit", "read"), [(61, 61), (10**30, 64)])
@pytest.mark.parametrize("form", ["text", "ids", "output"])
def test_show_long_text_is_cut(gpt2, limit, read, form):
    """By the tokenizer's limit, or by the model's where that knows none."""
    tokenizer = fast("bytes", limit)
    ids = tokenizer(TEXT * 20, verbose=False)["input_ids"]
    source = {"text": TEXT * 20, "ids": ids, "output": {"input_ids": torch.tensor([ids])}}[form]
    grid = viz.show(gpt2, tokenizer, source)
    assert len(grid.tokens[0]) == read
    assert grid.notes == [f"{read} of {len(ids)} tokens are shown: the model reads no more at once."]


def test_longest_text_roberta_skips_padding():
    """RoBERTa counts its places on from its padding: of 61 rows 59 are places."""
    sizes = checkpoints.BERT | {"pad_token_id": 1}
    model = transformers.RobertaModel(transformers.RobertaConfig(vocab_size=checkpoints.VOCABULARY, **sizes)).eval()
    assert len(viz.show(model, fast("wordpiece", 10**30), TEXT * 20).tokens[0]) == 59


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


@pytest.mark.parametrize("dtype", ["u2", "u4", ">i8", "i1"])
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


def test_show_function_as_tokenizer(gpt2):
    assert viz.show(gpt2, lambda text, **_options: {"input_ids": [5, 7, 9]}, "abc").tokens[0] == ("5", "7", "9")


@pytest.mark.parametrize("part", ["get_encoder", "get_decoder"])
def test_show_half_of_two_reads_one(part):
    """The encoder or the decoder of a model with both has its configuration, and reads no target."""
    config = transformers.BartConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.BART | {"d_model": 40})
    half = getattr(transformers.BartForConditionalGeneration(config).eval(), part)()
    grid = viz.show(half, fast("metaspace"), "The animal")
    assert grid.weights.shape == (6, 6)


def test_show_three_texts_raises(bert):
    with pytest.raises(ValueError, match="These are 3 texts"):
        viz.show(bert, fast("wordpiece"), ["a", "b", "c"])


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


@pytest.mark.parametrize("make", [lambda: fast("bytes"), lambda: fast("bytes").backend_tokenizer, Tiktoken])
def test_every_tokenizer_is_read(gpt2, make):
    """Those of transformers, of ``tokenizers``, and tiktoken's; a cut character is shown with the piece's number."""
    tokenizer = make()
    assert isinstance(tokenizer, Tokenizer) or hasattr(tokenizer, "encode")
    grid = viz.show(gpt2, tokenizer, "a 猫")
    assert grid.tokens[0][-3:] == ("猫₁", "猫₂", "猫₃")


def test_show_attentions_tokenizer_names_ids(gpt2):
    tokenizer = fast("bytes")
    inputs = tokenizer("The animal", return_tensors="pt")
    gpt2.set_attn_implementation("eager")
    with torch.inference_mode():
        attentions = gpt2(**inputs, output_attentions=True).attentions
    want = viz.show(gpt2, tokenizer, "The animal").tokens
    encoding = tokenizer.backend_tokenizer.encode("The animal")
    for text in (inputs["input_ids"], inputs, encoding, "The animal", ("The", " animal")):
        assert viz.show(attentions, tokenizer, text).tokens == want


def test_show_encoding_of_tokenizers(bert):
    """Its ids, its padding mask and its segments are read."""
    inner = fast("wordpiece").backend_tokenizer
    inner.no_padding()
    inner.no_truncation()
    for texts in (("The cat sat.",), ("The cat sat.", "The dog.")):
        grid, want = viz.show(bert, inner, inner.encode(*texts)), viz.show(bert, inner, texts)
        assert grid.tokens == want.tokens
        assert_close(torch.tensor(grid.weights), torch.tensor(want.weights))
    inner.enable_padding(length=12)
    assert "left out" in viz.show(bert, inner, inner.encode("The cat sat.")).notes[0]


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
