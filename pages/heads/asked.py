"""Values for lessons about reasons: the split of a score by kinds and by words, and weights after an exchange."""

from dataclasses import replace

from pages.heads import compute
from pages.heads.compare.one_row import Pair, chosen_pair
from pages.heads.compare.second import TEXT_B
from pages.heads.compare.what_changed import change_between
from pages.heads.context import HeadsContext
from viz.core.analysis.score_parts import KINDS
from viz.errors import ModelError
from viz.frame.examples import counterpart
from viz.lessons.subject import Subject


def _subject(pair: Pair, facts: dict[str, float]) -> Subject:
    scene = pair.scene
    return Subject(
        labels=scene.labels, special=scene.capture.tokens.special, trace=scene.trace, layer=scene.choice.layer,
        weights_of=lambda _: scene.trace.weights, facts=facts, about=repr((scene.choice.source, pair.head, facts)),
    )  # fmt: skip


def subject_of_reason(page: HeadsContext) -> Subject:
    """Return what a score is made of, by kinds and by words; nothing where it cannot be split."""
    pair = chosen_pair(page)
    if page.scene.choice.source.kind != "model":
        return _subject(pair, {})
    try:
        result = compute.reason(page.scene.choice.source, (page.scene.choice.layer, page.head), (pair.query, pair.key))
    except ModelError:
        return _subject(pair, {})
    split, words = result.split, result.words[: len(pair.labels), : len(pair.labels)]
    row, column = divmod(int(words.argmax()), words.shape[1])
    facts = {"total": split.total, "query": pair.query, "key": pair.key, "row": row, "column": column}
    facts |= {kind: float(split.grid[i, i]) for i, kind in enumerate(KINDS[:-1])}
    is_by_word = len(result.words) > len(KINDS)
    return _subject(pair, facts | ({"amount": float(words.max())} if is_by_word else {}))


def subject_of_change(page: HeadsContext) -> Subject:
    """Return a key's weights in both texts, before and after the exchange; nothing where there is none."""
    pair, source = chosen_pair(page), page.scene.choice.source
    try:
        text = TEXT_B.read(counterpart(source.text) or source.text)
        between = change_between(pair, replace(source, text=text)) if source.kind == "model" else None
    except ModelError:
        between = None
    if between is None:
        return _subject(pair, {})
    _, _, key, change = between
    weights = {"before": change.rows, "after": change.after}
    facts = {
        f"{name}{which}": float(row[place])
        for name, rows in weights.items()
        for which, row, place in zip(("", "_b"), rows, (pair.key, key), strict=True)
    }
    return _subject(pair, {"key": pair.key, **facts})
