"""The words that are followed, as links name them."""

from types import SimpleNamespace

from torch import nn

from pages.next_word import context
from tests.models.spelling.tokenizers import tokenizer_of
from viz.frame.specs import Source


def use_model(monkeypatch, tokenizer, n_words):
    """A model that reads what the tokenizer makes, and writes the first words of its vocabulary."""
    head = nn.Linear(1, n_words)
    loaded_model = SimpleNamespace(tokenizer=tokenizer, model=SimpleNamespace(get_output_embeddings=lambda: head))
    monkeypatch.setattr(context, "model", lambda _: loaded_model)


def test_resolve_unwritable_word_follows_likeliest(monkeypatch):
    """A model can have a shorter head than vocabulary (Apertus 1.5): a word beyond it has no chance to follow."""
    tokenizer = tokenizer_of("raw bytes")
    source, names = Source(kind="model", text="a", model="any"), {"b": tokenizer.encode("b")[0]}
    word = tokenizer.encode("ç")[0]
    use_model(monkeypatch, tokenizer, word + 1)
    assert context._resolve(source, names, "ç").token == word
    use_model(monkeypatch, tokenizer, word)
    assert context._resolve(source, names, "ç").token == names["b"]
