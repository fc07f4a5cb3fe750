"""`viz.show` runs a model as its user would: with what it reads, on its device, and with the given decoder's text."""

import pytest
import torch
import transformers
from torch.testing import assert_close

import viz
from tests import checkpoints
from tests.notebook.samples import fast
from viz.notebook.arguments import name_of

TEXT = "The animal was tired."


@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    folder = checkpoints.save("bart", tmp_path_factory.mktemp("bart"))
    return transformers.BartForConditionalGeneration.from_pretrained(folder, attn_implementation="eager").eval()


def test_segments_are_read_where_they_can(bart):
    """BERT's tokenizer gives the segments of a pair; a BART of Chinese is read with it, and has none."""
    tokenizer = fast("wordpiece")
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    assert "[CLS]" in viz.show(bart, tokenizer, TEXT).tokens[0]
    assert "[CLS]" in viz.show(bart, tokenizer, tokenizer(TEXT)).tokens[0]


@pytest.mark.parametrize("name", ["decoder_input_ids", "labels"])
def test_decoder_reads_what_is_given(bart, name):
    """A batch of a training has what the decoder reads, or is to write; -100 is no token."""
    tokenizer = fast("metaspace")
    inputs = tokenizer(TEXT, return_tensors="pt")
    start = bart.config.decoder_start_token_id
    rows = [[start, 7, 9]] if name == "decoder_input_ids" else [[7, 9, 11, -100]]
    grid = viz.show(bart, tokenizer, {**inputs, name: torch.tensor(rows)}, stack="cross", layer=1, head=2)
    with torch.inference_mode():
        want = bart(**inputs, decoder_input_ids=torch.tensor([[start, 7, 9]]), output_attentions=True)
    assert_close(torch.tensor(grid.weights), want.cross_attentions[1][0, 2], atol=1e-6, rtol=0)


def test_places_beside_tokens_are_refused():
    """Prompts and prefixes that were learned are no tokens: nothing is advised on the tokens of the user's text."""
    config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.LLAMA)

    class Prompted(transformers.LlamaForCausalLM):
        def forward(self, input_ids=None, attention_mask=None, **options):
            embeddings = self.get_input_embeddings()(torch.cat([torch.tensor([[5, 6, 7]]), input_ids], 1))
            return super().forward(inputs_embeds=embeddings, **options)

    with pytest.raises(ValueError, match=r"self maps of 10 × 10, and its texts have 7 and 7 tokens.*row_names"):
        viz.show(Prompted(config).eval(), fast("bytes"), TEXT)


@pytest.mark.parametrize("name", ["past_key_values", "cache"])
def test_cache_beside_ids_is_refused(name):
    config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.LLAMA)
    inputs = {"input_ids": [[5]], name: transformers.DynamicCache()}
    with pytest.raises(
        ValueError, match=f"{name} beside the input_ids: that holds a part of the text that was read before"
    ):
        viz.show(transformers.LlamaForCausalLM(config).eval(), fast("bytes"), inputs)


class ModelAround(torch.nn.Module):
    """A model around the model that it tunes."""

    def __init__(self, model):
        super().__init__()
        self.model, self.config = model, model.config

    def get_base_model(self):
        return self.model


def test_title_names_model_inside():
    """PeftModel is the name of no model, nor is OptimizedModule."""
    config = transformers.GPT2Config(n_embd=4, n_layer=1, n_head=1, vocab_size=9, n_positions=8)
    model = transformers.GPT2LMHeadModel(config)
    assert name_of(ModelAround(model)) == name_of(torch.compile(model, backend="eager")) == "GPT2LMHeadModel"


def test_layers_run_several_times_noted(tmp_path):
    """ALBERT has one layer for all: its maps stand as layers, and the note says how many made them."""
    folder = checkpoints.save("albert", tmp_path / "albert")
    model = transformers.AlbertModel.from_pretrained(folder, attn_implementation="eager")
    grid = viz.show(model, transformers.AutoTokenizer.from_pretrained(folder), "The animal was tired.")
    n = model.config.num_hidden_layers
    assert f"1 layer made these {n} maps: some run several times." in grid.notes
