"""`viz.watch`: moments of a training, which stays as it is, as a grid and as a file; the Trainer's own count."""

import copy

import pytest
import torch
import transformers
from torch.testing import assert_close

import viz
from tests import checkpoints
from tests.notebook.samples import fast
from viz.notebook import watch as watch_module

TEXT = "The animal was tired."


def build():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, attention_dropout=0.3, **checkpoints.LLAMA)
    return transformers.LlamaForCausalLM(config).train()


def train(model, steps=5):
    """Train with dropout, whose numbers are drawn in turn; a second optimizer has one of the parameters."""
    torch.manual_seed(1)
    parameters = list(model.parameters())
    optimizers = [torch.optim.SGD(parameters[:-1], 0.5), torch.optim.SGD(parameters[-1:], 0.5)]
    for step in range(steps):
        ids = torch.arange(7)[None] + step
        model(input_ids=ids, labels=ids).loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def test_training_stays_as_it_is():
    """Its numbers to the last bit, its dropout, and a module that the user keeps from training."""
    bare, model = build(), build()
    tokenizer = fast("bytes")
    for twin in (bare, model):
        twin.model.layers[0].eval()
    train(bare)
    with viz.watch(model, tokenizer, TEXT, every=2) as strip:
        train(model)
    assert list(strip.moments) == [0, 2, 4, 5]
    assert all(map(torch.equal, bare.parameters(), model.parameters()))
    assert [module.training for module in model.modules()] == [module.training for module in bare.modules()]
    assert model.config._attn_implementation == "sdpa"
    train(model, 2)
    assert list(strip.moments) == [0, 2, 4, 5]


def test_moments_are_what_model_shows():
    """A stack for each layer, in which layers are steps; the last step is that of the trained model."""
    model, tokenizer = build(), fast("bytes")
    before = viz.show(copy.deepcopy(model).eval(), tokenizer, TEXT)
    with viz.watch(model, tokenizer, TEXT, every=3) as strip:
        train(model)
    after = viz.show(model.eval(), tokenizer, TEXT)
    grid = strip.grid(head=2)
    assert (grid.stack, grid.layer, grid.head) == ("self 1", 5, 2)
    for step, plain in ((0, before), (5, after)):
        for layer in (0, 1):
            grid.stack, grid.layer, plain.layer, plain.head = f"self {layer}", step, layer, 2
            assert_close(torch.tensor(grid.weights), torch.tensor(plain.weights), atol=5e-4, rtol=0)
    with pytest.raises(ValueError, match=r"layer=1 has no maps here: the layers that have some are 0, 3, 5\."):
        grid.layer = 1


@pytest.mark.parametrize(
    ("lang", "name", "stack"), [("en", "step {layer}, head", "layer 1"), ("zh", "第 {layer} 步", "第 1 层")]
)
def test_file_counts_steps(lang, name, stack, tmp_path):
    model = build()
    strip = viz.watch(model, fast("bytes"), TEXT, lang=lang)
    strip.note(0)
    strip.note(50)
    words = strip.grid().words
    assert words["grid"]["layer_head"].startswith(name) and words["around"]["stack_self 1"] == stack
    page = strip.save_html(tmp_path / "strip.html").read_text("utf8")
    assert '"layer": 50' in page and words["around"]["layers"].startswith("{layers} ")


def test_many_moments_are_thinned(monkeypatch):
    """Every second one goes, and the next ones are twice as far apart."""
    strip = viz.watch(build(), fast("bytes"), TEXT, every=1)
    strip.note(0)
    monkeypatch.setattr(watch_module, "MOST_BYTES", 3 * sum(maps.nbytes for maps in strip.moments[0].values()))
    for step in range(1, 9):
        strip.note(step)
    assert list(strip.moments) == [0, 4, 8] and strip.every == 4


def test_trainer_counts_itself(tmp_path):
    """A step of the Trainer's for two batches."""
    strip = viz.watch(model := build(), fast("bytes"), TEXT, every=2)
    rows = [{"input_ids": torch.arange(7) + i, "labels": torch.arange(7) + i} for i in range(12)]
    arguments = transformers.TrainingArguments(
        tmp_path, per_device_train_batch_size=2, gradient_accumulation_steps=2, report_to=[], use_cpu=True,
        num_train_epochs=1, save_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    transformers.Trainer(model, arguments, train_dataset=rows, callbacks=[strip.callback]).train()
    assert list(strip.moments) == [0, 2, 3]


def test_two_stacks_are_watched(tmp_path):
    """Each stack of an encoder-decoder has its layers, and what the decoder writes at first is read at every step."""
    folder = checkpoints.save("bart", tmp_path)
    model = transformers.BartForConditionalGeneration.from_pretrained(folder)
    strip = viz.watch(model, fast("metaspace"), TEXT, target="It sat.")
    for step in (0, 50):
        strip.note(step)
    grid = strip.grid()
    names = [stack.name for stack in grid._stacks]
    assert {name.partition(" ")[0] for name in names} == {"encoder", "decoder", "cross"} and len(set(names)) == len(
        names
    )
    for name in names:
        grid.stack = name
        assert grid.weights.shape == tuple(map(len, grid.tokens))


def test_faults_are_sentences():
    model, tokenizer = build(), fast("bytes")
    for arguments, options, sentence in (
        ((model, tokenizer, TEXT), {"every": 0}, "every=0 is a number of steps"),
        ((model, tokenizer, TEXT), {"lang": "fr"}, "lang='fr' one of en, zh"),
        ((model, tokenizer, None), {}, "has no text to read"),
        ((model, None, TEXT), {}, "NoneType stands in the tokenizer's place"),
        ((torch.nn.Linear(2, 2), tokenizer, TEXT), {}, "is no model of transformers"),
    ):
        with pytest.raises(ValueError, match=sentence):
            viz.watch(*arguments, **options)
    with pytest.raises(ValueError, match="No heads were kept"):
        viz.watch(model, tokenizer, TEXT).grid()
