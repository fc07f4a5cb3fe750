"""The reasons of a weight and of its change: the sentence, what is drawn, the exchange, refusals, and faults."""

from dataclasses import replace

import pytest

from pages.heads import why
from tests.running import bar_charts, checked, matrices
from viz.core.analysis.score_parts import CONSTANT, KINDS, ScoringHead
from viz.text import LANGUAGES, translator

FOX = "The quick brown fox jumps over the lazy dog."
TIRED = "The animal didn't cross the street because it was too tired."
TWICE = "the cat saw a red bird and the dog ran home . the cat saw a red"
RED = {"model": "twin-g8", "text": TWICE, "layer": 1, "head": 7, "query": 16, "key": 5}
WHY = {"section": "all_heads", "heads_view": "why"}
TWO_TEXTS = {"section": "compare", "compare_view": "changed"}

pytestmark = pytest.mark.usefixtures("without_source_checks")


def texts(app):
    return [element.value for element in app.text]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_fox_is_by_place(open_app, lang):
    """Place with place has 17.1 of 19.2, as the cell of the grid that is drawn says too, and both checks hold."""
    app, t = open_app("heads", **WHY, text=FOX, layer=0, head=2, query=4, key=3, lang=lang), translator(lang)
    numbers = {"amount": "17.1", "total": "19.2", "before": ">0.99", "after": "<0.01"}
    assert t("why.by_kind", query="fox", key="brown", kind=t("why.kind_place"), **numbers) in texts(app)
    header, cells = matrices(app)["why"]
    kinds = [t(f"why.kind_{kind}") for kind in KINDS[:-1]]
    assert header["rows"]["labels"] == header["columns"]["labels"] == kinds
    assert int(cells.argmax()) == 5 and float(cells[1, 1]) == pytest.approx(17.1, abs=0.05)
    assert checked(app, "why") == (1, 1)


def test_induction_names_head_and_words(open_app):
    """Head 0.0 is named at *bird*; the two reds meet in the grid of words; without it the weight goes, alone."""
    app, t = open_app("heads", **WHY, **RED), translator("en")
    sentence = "“16 · red” looks at “bird” because of head 0.0 at “bird”: 13.2 of 17.4"
    assert any(text.startswith(sentence) for text in texts(app))
    _, cells = matrices(app)["why"]
    assert divmod(int(cells.argmax()), 17) == (16, 4)
    chart = bar_charts(app)["why_exchange"]
    now, without, *rivals = next(iter(chart.series.values())).tolist()
    assert chart.header["labels"][:2] == [t("heads.now"), "head 0.0"] and len(rivals) == 3
    assert now > 0.99 and without < 0.1 and min(rivals) > 0.5
    sums = [float(sum(*bar_charts(app)[f"why_parts_{side}"].series.values())) for side in (0, 1)]
    assert sums == pytest.approx([17.36, 17.36], abs=0.01)
    assert checked(app, "why") == (2, 2)


def test_it_has_no_single_reason(open_app):
    """The largest of all parts is named as that, and is the highest bar."""
    app = open_app("heads", **WHY, text=TIRED)
    sentence = "no single reason: the largest part, feed-forward 2 at “it”, has 2.07 of 4.64"
    assert any(sentence in text for text in texts(app))
    chart = bar_charts(app)["why_parts_0"]
    values = next(iter(chart.series.values()))[:-1]
    assert float(values.max()) == pytest.approx(2.07, abs=0.01)
    assert chart.header["labels"][int(values.argmax())] == "feed-forward 2"


@pytest.mark.parametrize(("link", "code"), [({"source": "words"}, "split"), ({"text": FOX, "query": 0}, "split_word")])
def test_edges_are_refused_in_sentences(open_app, link, code):
    assert [box.value for box in open_app("heads", **WHY, **link).info] == [translator("en")(f"error.{code}")]


def test_little_score_is_not_explained(open_app):
    app = open_app("heads", **WHY, text=FOX, layer=0, head=2, query=9, key=4)
    assert any("too little to explain" in text for text in texts(app)) and checked(app, "why") == (1, 1)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_change_names_three_heads(open_app, lang):
    """From tired to wide heads 2.1, 2.3 and 2.8; exchanged, the rows of the texts change places, with others not."""
    app, t = open_app("heads", **TWO_TEXTS, text=TIRED, lang=lang), translator(lang)
    names = {"query": "it", "key": "animal", "other": "street", "word": "tired → wide", "heads": "2.1, 2.3, 2.8"}
    assert t("heads.changed_by", **names, total="−1.76", amount="−1.32", looks="0.71, 0.61, 0.59") in texts(app)
    charts = {name: bar_charts(app)[f"changed_{name}"].series for name in ("before", "after", "rivals")}
    weights = {name: [(float(row[2]), float(row[8])) for row in pair.values()] for name, pair in charts.items()}
    expected = {"before": [(0.68, 0.05), (0.28, 0.12)], "after": [(0.24, 0.14), (0.62, 0.07)]}
    for name, values in expected.items():
        assert weights[name] == [pytest.approx(pair, abs=0.01) for pair in values]
    assert weights["rivals"] == [pytest.approx(pair, abs=0.05) for pair in expected["before"]]
    assert checked(app, "changed") == (1, 1)


def test_words_of_one_text_are_refused(open_app):
    app = open_app("heads", **TWO_TEXTS, text=TIRED, text_b="The animal crossed.")
    assert [element.value for element in app.info] == [translator("en")("heads.changed_needs")]


def swap_heads(head: ScoringHead) -> ScoringHead:
    """Give heads 0 to 5 of each layer what heads 6 to 11 wrote and the other way round."""
    return replace(head, steps=tuple(step._replace(parts=step.parts[6:] + step.parts[:6]) for step in head.steps))


def lose_constants(head: ScoringHead) -> ScoringHead:
    return replace(head, steps=tuple(step for step in head.steps if step.parts != (CONSTANT,)))


@pytest.mark.parametrize(
    ("fault", "text", "n_passed"),
    [
        (swap_heads, "The dog didn't cross the road because it was too slow.", 1),
        (lose_constants, "The cat didn't cross the road because it was too slow.", 0),
    ],
)
def test_faults_turn_checks_red(open_app, monkeypatch, fault, text, n_passed):
    """Heads exchanged are seen by the one carried forward alone; constants left out by the sum, too."""
    right = why.scoring_heads
    monkeypatch.setattr(why, "scoring_heads", lambda *args: tuple(map(fault, right(*args))))
    app = open_app("heads", **WHY, text=text, query=10, key=2)
    assert checked(app, "why") == (n_passed, 2)
