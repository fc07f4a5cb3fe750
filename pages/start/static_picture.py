"""The default sentence as plain HTML and SVG, from the weights on file: shown until Streamlit draws a page."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import sqrt

from pages.start.page import doors
from pages.start.sentences import WEIGHT_UNITS, pairs
from viz.frame.format import part
from viz.text import Translate, translator

LEAST = 0.03
"""Smaller weights have no arc and no number, as in ``client/start/looks.js``."""
PAD, GAP = 0.3, 0.2
"""Padding beside each word and gap between two of them, in em."""
HIGHEST = 2.9
"""Height of the highest arc, in em."""
FONT = 27.2
"""Pixels of an em on a wide screen: an arc of weight 1 is ten pixels wide."""
LEFT_MARGIN, TOP_MARGIN = 3.4, 2.6
"""Margins for the names of a map's rows and columns, in cells."""


def sentence_picture(lang: str) -> str:
    """Return the sentence with arcs from its query to the words it attends to, and the entry links."""
    t, labels, weights, query = _default(lang)
    places, wide = [0.0] * len(labels), 0.0
    for key in weights:
        places[key] = wide + _width(labels[key]) / 2
        wide += _width(labels[key]) + GAP
    words = "".join(_word(labels[key], 0 if key == query else weights[key], key == query) for key in weights)
    arcs = "".join(_arc(places[query], places[key], weight) for key, weight in weights.items() if key != query)
    svg = f'<svg viewBox="0 0 {wide - GAP:.2f} {HIGHEST}" aria-hidden="true">{arcs}</svg>'
    line = f'<div class="line" style="--wide: {wide - GAP:.2f}">{svg}<p>{words}</p></div>'
    return f'<div class="sentence-picture">{line}{_notes(t, lang)}</div>{doors(t, {"lang": lang})}'


def map_picture(lang: str) -> str:
    """Return the head's whole map: rows are queries, columns keys."""
    pair = pairs()[lang]
    sentence, t = pair["sentences"][0], translator(lang)
    labels, n = sentence["labels"], len(sentence["labels"])
    cells = "".join(
        f'<rect x="{column}" y="{row}" width="1" height="1" opacity="{sqrt(weight / WEIGHT_UNITS):.3f}"/>'
        for row, of_row in enumerate(sentence["weights"])
        for column, weight in enumerate(of_row)
    )
    rows = "".join(f'<text x="-0.2" y="{at + 0.7}">{escape(label)}</text>' for at, label in enumerate(labels))
    columns = "".join(
        f'<text transform="translate({at + 0.6} -0.2) rotate(-60)">{escape(label)}</text>'
        for at, label in enumerate(labels)
    )
    query_frame = f'<rect class="chosen" x="0" y="{labels.index(pair["query"])}" width="{n}" height="1"/>'
    frame = f'<rect class="frame" x="0" y="0" width="{n}" height="{n}"/>'
    view = f"{-LEFT_MARGIN} {-TOP_MARGIN} {n + LEFT_MARGIN + 1} {n + TOP_MARGIN + 0.1:.1f}"
    svg = f'<svg viewBox="{view}" aria-hidden="true">{cells}{frame}{query_frame}{rows}<g>{columns}</g></svg>'
    return f'<div class="map-picture"><p class="text">{escape(sentence["text"])}</p>{_notes(t, lang)}{svg}</div>'


def _default(lang: str) -> tuple[Translate, Sequence[str], dict[int, float], int]:
    """Return the texts, the labels, the query's weights on the words by position, and the query's position."""
    pair = pairs()[lang]
    sentence = pair["sentences"][0]
    query = sentence["labels"].index(pair["query"])
    row = sentence["weights"][query]
    weights = {key: row[key] / WEIGHT_UNITS for key, special in enumerate(sentence["special"]) if not special}
    return translator(lang), sentence["labels"], weights, query


def _notes(t: Translate, lang: str) -> str:
    """Return the sentence on the largest weight, and the model, layer and head."""
    pair = pairs()[lang]
    _, labels, weights, query = _default(lang)
    key = max((key for key in weights if key != query), key=weights.__getitem__)
    is_most = weights[key] == max(pair["sentences"][0]["weights"][query]) / WEIGHT_UNITS
    text = t(
        "start.arcs_most" if is_most else "start.arcs_most_word",
        query=labels[query],
        key=labels[key],
        weight=part(weights[key]),
    )
    source = t("start.arcs_from", **{name: pair[name] for name in ("model", "layer", "head", "made")})
    return f'<p class="note">{escape(text)}</p><p class="source">{escape(source)}</p>'


def _width(label: str) -> float:
    """Return the approximate width of a word in em: its box has that width, so that arcs end above its middle."""
    return PAD + sum(
        1.0 if not sign.isascii() else 0.3 if sign in "fijlrt'.,:;!|" else 0.82 if sign in "mwMW" else 0.53
        for sign in label
    )


def _word(label: str, weight: float, is_query: bool) -> str:
    number = f"<small>{part(weight)}</small>" * (weight >= LEAST)
    look = f"width: {_width(label):.2f}em; --share: {45 * sqrt(weight):.1f}%"
    return f'<span style="{look}"><b{" class=chosen" * is_query}>{escape(label)}</b>{number}</span>'


def _arc(start: float, end: float, weight: float) -> str:
    if weight < LEAST:
        return ""
    base, top = HIGHEST, HIGHEST - min(HIGHEST - 0.2, 0.5 + 0.16 * abs(start - end)) * 4 / 3
    path = f"M{start:.2f} {base}C{start:.2f} {top:.2f} {end:.2f} {top:.2f} {end:.2f} {base}"
    return f'<path d="{path}" stroke-width="{max(1, 10 * weight) / FONT:.3f}" opacity="{0.25 + 0.6 * weight:.2f}"/>'


PICTURES: Mapping[str, Callable[[str], str]] = {"start": sentence_picture, "heads": map_picture}
"""The pages that have a picture before Streamlit draws, and the function that makes it in a language."""
