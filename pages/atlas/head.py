"""One head of the atlas: its scores beside chance, its labels, and texts for and against them."""

import math

import streamlit as st

from pages.atlas import compute
from pages.atlas.checks import is_own, on_text
from pages.atlas.context import SIZES, AtlasContext, format_score
from viz.core.analysis.atlas.scores import REPEATED, SENTENCES
from viz.core.analysis.atlas.summary import Score
from viz.frame.compute import model
from viz.frame.examples import go_to_head
from viz.frame.modes import say
from viz.frame.sidebar import file_of
from viz.models.tokens import guesses, labels
from viz.text import Translate, paragraph


def interval(name: str, mean: float, half: float) -> tuple[str, ...]:
    """The mean, and the ends of its interval unless they read the same; a share's are no further than 0 and 1."""
    if not math.isfinite(half):
        return (format_score(name, mean),)
    low, high = mean - half, mean + half
    if name not in SIZES:
        low, high = max(0.0, low), min(1.0, high)
    numbers = tuple(format_score(name, value) for value in (mean, low, high))
    return numbers if len(set(numbers)) > 1 else numbers[:1]


def mean_said(t: Translate, name: str, mean: float, half: float) -> str:
    """The same in words."""
    middle, *ends = interval(name, mean, half)
    return t("atlas.interval", mean=middle, low=ends[0], high=ends[1]) if ends else middle


def _mean_and_half(score: Score, place: tuple[int, int]) -> tuple[float, float]:
    return float(score.mean[place]), float(score.half[place])


def highest(score: Score) -> float:
    """The most that any head of the models of random weights has; NaN where there are none."""
    finite = score.chance[score.chance.isfinite()]
    return float(finite.max()) if len(finite) else math.nan


def draw_head(context: AtlasContext, section: str, name: str, place: tuple[int, int]) -> None:
    """Render the head's sentences, and the texts of this score."""
    layer, head = place
    t, score = context.t, context.score(name)
    values = {"mean": mean_said(t, name, *_mean_and_half(score, place)), "n": score.n}
    even = t("atlas.head_even", even=format_score(name, score.even)) if math.isfinite(score.even) else ""
    say(t("atlas.head_line", layer=layer, head=head, score=context.title(name), even=even, **values))
    more = _labels(context, layer, head)
    if name in SENTENCES:
        value, _ = on_text(context.source, layer, head)[name]
        if math.isfinite(value):
            more.append(t("atlas.on_text", value=format_score(name, value)))
    say(paragraph(*more))
    _texts(context, section, name, place)
    if is_own(context):
        st.caption(t("atlas.own_note"))


def say_even_on_text(context: AtlasContext, name: str) -> None:
    """Say how much of a score a head has on the page's text that looks at everything alike."""
    if name in SENTENCES:
        value, even = on_text(context.source, *context.chosen(name))[name]
        if math.isfinite(value):
            say(context.t("atlas.on_text_even", even=format_score(name, even)))


def _labels(context: AtlasContext, layer: int, head: int) -> list[str]:
    """The labels of the head, and how many texts contradict each, in sentences."""
    t, sentences = context.t, []
    for name in context.labels(layer, head):
        score = context.score(name)
        against = int(score.against[layer, head])
        key = "atlas.label_held" if against == 0 else "atlas.label_against"
        values = {"against": against, "n": score.n, "hurdle": format_score(name, score.hurdle)}
        sentences.append(t(key, label=context.title(name), **values))
    return sentences or [t("atlas.no_label")]


def _texts(context: AtlasContext, section: str, name: str, place: tuple[int, int]) -> None:
    """List the texts with the head's highest and lowest scores; the lowest contradict a label."""
    (layer, head), t, score = place, context.t, context.score(name)
    contradicts = name in context.labels(layer, head) and int(score.against[layer, head]) > 0
    groups = (
        ("high", t("atlas.most"), score.high, score.high_values),
        ("low", t("atlas.against") if contradicts else t("atlas.least"), score.low, score.low_values),
    )
    for code, title, texts, values in groups:
        says_how = code == "high" and _opens(name)
        st.subheader(f"{title} · {t('atlas.each_opens')}" if says_how else title, anchor=False)
        for at, (number, value) in enumerate(
            zip(texts[:, layer, head].tolist(), values[:, layer, head].tolist(), strict=True)
        ):
            if number >= 0:
                _text(context, name, place, number, value, key=f"{section}_{code}_{at}")


def _opens(name: str) -> bool:
    """Return whether a score's texts are sentences, which Heads can show; others are random tokens or a word."""
    return name not in (*REPEATED, "copying")


def _text(context: AtlasContext, name: str, place: tuple[int, int], number: int, value: float, *, key: str) -> None:
    """A text with its value; a sentence opens on Heads."""
    t, content = context.t, text_content(context, name, number)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"atlas_{key}"):
        if not _opens(name):
            st.text(f"{format_score(name, value)} · {content}")
            return
        label = t("atlas.open", value=format_score(name, value))
        if st.button(label, key=f"atlas_open_{key}", on_click=go_to_head, args=(context.source.model, content, place)):
            st.switch_page(file_of("heads"))
        st.text(content, width="stretch")


def text_content(context: AtlasContext, name: str, number: int) -> str:
    """The content of a text of this score: a line, random tokens or a word."""
    tokenizer = model(context.source.model).tokenizer
    if name == "copying":
        return guesses(tokenizer, [compute.word_ids(context.source.model)[number]])[0]
    if name in REPEATED:
        ids, special = compute.random_ids(context.source.model, number)
        first = [token for token, added in zip(ids, special, strict=True) if not added][: len(ids) // 2]
        return " ".join(labels(tokenizer, first[:8])) + " …"
    return context.atlas.lines[number]
