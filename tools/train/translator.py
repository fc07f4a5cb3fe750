"""A small translator of this project's own, an encoder-decoder.

``python -m tools.train translator`` trains it again.

A stock T5 of two and two layers learns sentences about animals, English to Chinese. Chinese says when and where before
what happens, so a word's partner is seldom in the same place: whoever translates has to look for it.
"""

import argparse
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from tools.train.loop import fit
from viz import ASSETS

FOLDER = ASSETS / "animals-en-zh"
SPECIAL = ("<pad>", "</s>", "<unk>")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides what the translator becomes, beside its words."""

    d_model: int = 64
    d_head: int = 16
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 128
    longest: int = 64
    batch: int = 64
    steps: int = 1200
    learning_rate: float = 3e-3
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """An English sentence, its Chinese, and which part of one says what of the other, in Chinese order."""

    english: str
    chinese: str
    parts: tuple[tuple[str, str], ...]


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """The words by kind, English to Chinese."""
    with (ASSETS / "animals.toml").open("rb") as file:
        return tomllib.load(file)


def sentences(seed: int) -> Iterator[Sentence]:
    """Endless sentences: 15 million are possible, so that what is drawn with another seed is new almost always."""
    generator = torch.Generator().manual_seed(seed)

    def draw(kind: str, share: float = 1.0) -> list[tuple[str, str]]:
        if float(torch.rand(1, generator=generator)) >= share:
            return []
        pairs = list(words()[kind].items())
        return [pairs[int(torch.randint(len(pairs), (1,), generator=generator))]]

    def animal() -> list[tuple[str, str]]:
        return [*draw("articles"), *draw("adjectives", 0.6), *draw("animals")]

    while True:
        who, does, whom = animal(), draw("verbs"), animal()
        where, when = draw("places", 0.5), draw("times", 0.5)
        chinese = [*when, *who, *where, *does, *whom]
        yield Sentence(
            english=" ".join(english for english, _ in [*who, *does, *whom, *where, *when]),
            chinese="".join(part for _, part in chinese),
            parts=tuple(chinese),
        )


def tokenizer() -> Any:
    """English word by word in small letters, Chinese character by character; whatever else is <unk>."""
    import transformers
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    pairs = [pair for kind in words().values() for pair in kind.items()]
    english = sorted({word for phrase, _ in pairs for word in phrase.split()})
    chinese = sorted({character for _, phrase in pairs for character in phrase})
    vocabulary = {token: i for i, token in enumerate((*SPECIAL, *english, *chinese))}
    word_tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    word_tokenizer.normalizer = normalizers.Lowercase()
    word_tokenizer.pre_tokenizer = pre_tokenizers.Split(
        Regex(r"\p{Han}|[^\s\p{Han}\p{P}]+|\p{P}"), "removed", invert=True
    )
    word_tokenizer.decoder = decoders.Fuse()
    word_tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_tokenizer,
        model_max_length=Recipe().longest,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )


def build(recipe: Recipe, vocabulary: int) -> Any:
    """An untrained T5 of the recipe's sizes."""
    import transformers

    config = transformers.T5Config(
        vocab_size=vocabulary,
        d_model=recipe.d_model,
        d_kv=recipe.d_head,
        d_ff=recipe.d_ff,
        num_layers=recipe.n_layers,
        num_decoder_layers=recipe.n_layers,
        num_heads=recipe.n_heads,
        relative_attention_num_buckets=16,
        relative_attention_max_distance=32,
        dropout_rate=0.0,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        return transformers.T5ForConditionalGeneration(config)


def train(recipe: Recipe, *, on_step: Callable[[], Any] = lambda: None) -> Any:
    """The trained model. One seed, one result; another version of torch may round otherwise."""
    cutter, source = tokenizer(), sentences(recipe.seed)
    model = build(recipe, len(cutter))
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, total_steps=recipe.steps)

    def loss() -> torch.Tensor:
        batch = [next(source) for _ in range(recipe.batch)]
        read = cutter([sentence.english for sentence in batch], padding=True, return_tensors="pt")
        target = cutter([sentence.chinese for sentence in batch], padding=True, return_tensors="pt")
        labels = target.input_ids.masked_fill(target.attention_mask == 0, -100)
        result: torch.Tensor = model(input_ids=read.input_ids, attention_mask=read.attention_mask, labels=labels).loss
        return result

    return fit(
        model, loss, recipe.steps, optimizer, schedule=schedule, longest_gradient=1.0, after=lambda step: on_step()
    )


def main() -> None:
    """Train and write the checkpoint: a minute on one core."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    # With more threads sums are rounded in another order.
    torch.set_num_threads(1)
    recipe = Recipe()
    with tqdm(total=recipe.steps) as bar:
        model = train(recipe, on_step=bar.update)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
