"""The words that are followed, as links name them."""

from types import SimpleNamespace

from pages.next_word import context
from tests.models.spelling.tokenizers import tokenizer_of
from viz.frame.specs import Source
from viz.models.tokens import guesses


def test_resolve_piece_of_letter_old_name(monkeypatch):
    """A link of before names a piece of a letter as the tokenizer does; the same name is a letter if it is no guess."""
    tokenizer = tokenizer_of("raw bytes")
    monkeypatch.setattr(context, "model", lambda _: SimpleNamespace(tokenizer=tokenizer))
    source = Source(kind="model", text="a", model="any")
    piece, letter = tokenizer.convert_tokens_to_ids(["ç", "a"])
    names = dict(zip(guesses(tokenizer, [piece, letter]), [piece, letter], strict=True))
    assert [context._resolve(source, names, word).token for word in ("ç", "⟨E7…⟩", "a")] == [piece, piece, letter]
    assert context._resolve(source, {"a": letter}, "ç").token == tokenizer.encode("ç")[0]
