"""Three small decoders that differ in one number, G: the *twins*.

``python -m tools.train twins`` trains them again.

Each is a stock Llama of two layers that reads random everyday words, repeated: the only way to know what comes next is
to look for the present word's earlier mention and copy what came after it (an induction head, Olsson et al. 2022).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from viz import ASSETS

FOLDER = ASSETS / "twins"
GROUPS = (8, 2, 1)
"""G of each twin; all have H = 8."""

REPEATING = "the cat saw a red bird and the dog ran home . the cat saw a red"
"""A text of words they know, in which what comes next has come before."""

POINTS = {8: (200, 300, 400)}
"""Steps after which weights are kept, by G: before the twin copies, and while it learns to; at the end they all are."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides what a twin becomes, beside G and the seed."""

    d_model: int = 128
    n_heads: int = 8
    n_layers: int = 2
    d_ff: int = 256
    longest: int = 256
    length: int = 48
    shortest_period: int = 4
    longest_period: int = 24
    batch: int = 64
    steps: int = 800
    learning_rate: float = 2e-3
    measured_every: int = 25
    measured_on: int = 256


@dataclass(frozen=True, kw_only=True)
class Run:
    """Record of one training: measured after so many ``steps``, on fresh sequences.

    ``loss`` in nats a word and ``accuracy`` count only words that can be known, as :func:`predictable` says.
    """

    n_kv_heads: int
    seed: int
    steps: tuple[int, ...]
    loss: tuple[float, ...]
    accuracy: tuple[float, ...]


def twin_id(n_kv_heads: int) -> str:
    """The name of a twin in the registry, in links and on disk."""
    return f"twin-g{n_kv_heads}"


def point_id(n_kv_heads: int, step: int) -> str:
    """The name of a twin as it was after so many steps."""
    return f"{twin_id(n_kv_heads)}-step-{step}"


@cache
def words() -> tuple[str, ...]:
    """The words the twins know; anything else is [UNK] to them, one more word among the others."""
    return tuple((FOLDER / "words.txt").read_text("utf8").split())


@cache
def runs() -> tuple[Run, ...]:
    """Records of the trainings, every G with every seed."""
    return tuple(map(run_of, json.loads((FOLDER / "runs.json").read_text("utf8"))["runs"]))


def run_of(record: Mapping[str, Any]) -> Run:
    """Return a run from its record."""
    fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in record.items()}
    return Run(**fields)


def repeated(n: int, recipe: Recipe, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows of random words (n, length), each row repeating itself after its own period (n,)."""
    vocabulary = len(words()) + 1
    period = torch.randint(recipe.shortest_period, recipe.longest_period + 1, (n, 1), generator=generator)
    once = torch.randint(vocabulary, (n, recipe.longest_period), generator=generator)
    return once.gather(1, torch.arange(recipe.length) % period), period[:, 0]


def predictable(ids: Tensor, period: Tensor) -> Tensor:
    """True for each word that can be known from those before it: the present word has been seen, with what followed."""
    return torch.arange(1, ids.shape[1]) > period[:, None]


def losses(model: Any, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Loss of every word but the first, in nats, and whether the likeliest word is the right one; (n, T - 1) each."""
    logits = model(input_ids=ids).logits[:, :-1]
    nats = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").view(len(ids), -1)
    return nats, logits.argmax(-1) == ids[:, 1:]


def measure(model: Any, recipe: Recipe, *, seed: int) -> tuple[float, float]:
    """Loss and accuracy over the words that can be known, on fresh sequences."""
    ids, period = repeated(recipe.measured_on, recipe, torch.Generator().manual_seed(seed))
    with torch.inference_mode():
        nats, right = losses(model, ids)
    is_predictable = predictable(ids, period)
    return float(nats[is_predictable].mean()), float(right[is_predictable].float().mean())


def build(n_kv_heads: int, recipe: Recipe, *, seed: int) -> Any:
    """An untrained twin, by transformers' own start."""
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=len(words()) + 1,
        hidden_size=recipe.d_model,
        intermediate_size=recipe.d_ff,
        num_hidden_layers=recipe.n_layers,
        num_attention_heads=recipe.n_heads,
        num_key_value_heads=n_kv_heads,
        max_position_embeddings=recipe.longest,
        bos_token_id=None,
        eos_token_id=None,
        tie_word_embeddings=False,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return transformers.LlamaForCausalLM(config)


@cache
def tokenizer() -> Any:
    """One token a word, whatever its case; marks stand alone, and an unknown word is [UNK]."""
    import transformers
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate(("[UNK]", *words()))}
    word_tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    word_tokenizer.normalizer = normalizers.Sequence([normalizers.Replace("’", "'"), normalizers.Lowercase()])
    word_tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+(?:'\w+)*|[^\w\s]"), behavior="removed", invert=True)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_tokenizer, unk_token="[UNK]", model_max_length=Recipe.longest
    )


def unknown(text: str) -> tuple[str, ...]:
    """The words of a text that the twins do not know, each once, in order."""
    backend = tokenizer().backend_tokenizer
    pieces = backend.pre_tokenizer.pre_tokenize_str(backend.normalizer.normalize_str(text))
    return tuple(dict.fromkeys(word for word, _ in pieces if word not in words()))
