"""Record one head's weights on the sentences of the start page: ``python -m tools.start``.

The sentences are examples of ``assets/examples.toml``: the default ones and their twins.
"""

import json
from datetime import UTC, datetime
from typing import Any

from pages.start import story
from pages.start.numbers import next_words, read_story
from pages.start.sentences import FILE, WEIGHT_UNITS, Pair, Sentence
from viz.frame.examples import Example, examples
from viz.models import registry
from viz.models.capture import capture
from viz.models.load import load
from viz.models.spelling.visible import SPACE

TWINS = {"en": {"animal": "tired", "wide": "wide"}, "zh": {"crossing": "累", "broad": "宽"}}
"""For each language two examples by their code, and the word in which they differ."""

OF_THE_DEFAULT_MODEL = 3, 1
"""Default layer and head of the app."""


def record(lang: str, date: str) -> Pair:
    """Compute the pair of a language with its model."""
    first = _example(next(iter(TWINS[lang])))
    model = first.model or registry.entries()[0].id
    layer, head = (first.layer, first.head) if first.model else OF_THE_DEFAULT_MODEL
    return {
        "lang": lang,
        "model": model,
        "layer": layer,
        "head": head,
        "made": date,
        "query": first.query,
        "sentences": [_read(model, layer, head, word, _example(code).text) for code, word in TWINS[lang].items()],
    }


def record_stories(pair: Pair) -> list[dict[str, Any]]:
    """Compute what stands below the arcs of both sentences."""
    model, decoder = load(pair["model"]), load(registry.SMALL_DECODER)
    return [
        {
            **read_story(capture(model, sentence["text"]), pair["layer"], pair["head"]),
            "next": next_words(decoder, sentence["text"]),
        }
        for sentence in pair["sentences"]
    ]


def _example(code: str) -> Example:
    return next(example for example in examples() if example.code == code)


def _read(model: str, layer: int, head: int, word: str, text: str) -> Sentence:
    reading = capture(load(model), text)
    weights = reading.layer(layer).weights[head]
    return {
        "word": word,
        "text": text,
        "labels": [label.removeprefix(SPACE) for label in reading.tokens.labels],
        "special": list(reading.tokens.special),
        "weights": (weights * WEIGHT_UNITS).round().int().tolist(),
    }


def main() -> None:
    """Compute both pairs, and what stands below them, and write the files."""
    date = datetime.now(UTC).date().isoformat()
    pairs = [record(lang, date) for lang in TWINS]
    FILE.write_text("[\n" + ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in pairs) + "\n]\n", "utf8")
    stories = {pair["lang"]: record_stories(pair) for pair in pairs}
    story.FILE.write_text(json.dumps(stories, ensure_ascii=False) + "\n", "utf8")


if __name__ == "__main__":
    main()
