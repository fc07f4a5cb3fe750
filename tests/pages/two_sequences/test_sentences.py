"""Sentences of the page of two texts: true of every pair of texts, mask and model."""

import pytest

from tests.running import sentences_of
from tests.sections import link_to
from viz.frame import compute, specs
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("without_source_checks")
KINDS = {"section": "scoring", "score_show": "kinds", "source": "words"}


def texts_of(app):
    assert not app.exception
    return sentences_of(app) + [element.value for kind in ("caption", "text") for element in app.get(kind)]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "target", "mask", "keys"),
    [
        ("one two", "six seven eight", "padding", []),
        ("one two", "six", "none", ["found"]),
        ("one", "six seven", "causal", ["found"]),
        ("one", "six seven", "none", ["found", "apart"]),
    ],
)
def test_rows_without_weight_are_not_compared(open_app, lang, text, target, mask, keys):
    t = translator(lang)
    texts = texts_of(
        open_app(
            "two_sequences",
            **KINDS,
            text=text,
            target=target,
            kinds_mask=mask,
            lang=lang,
        )
    )
    values = dict.fromkeys(("dot", "additive", "limit"), "|")
    starts = {name: t(f"two_sequences.kinds.{name}", **values).split("|")[0] for name in ("found", "apart")}
    assert [name for name, start in starts.items() if any(text.startswith(start) for text in texts)] == keys


def test_farthest_score_keeps_its_sign(open_app):
    """Of one word and one word there is one score, which may be below 0."""
    t, signs = translator("en"), set()
    for text in ("one", "two", "cat", "dog", "bird", "tree", "house"):
        texts = texts_of(open_app("two_sequences", **KINDS, text=text, target="six"))
        start = t("two_sequences.kinds.found", dot="|", additive="", limit="").split("|")[0]
        (sentence,) = [sentence for sentence in texts if sentence.startswith(start)]
        signs.add(sentence.removeprefix(start)[0] == "−")
    assert signs == {True, False}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("section", "key"), [("cross_attention", "heads_model"), ("scoring", "scores_note")])
def test_layer_has_models_own_number(open_app, small_model, lang, section, key):
    """In a hybrid the second layer that attends is not layer 1."""
    t, model, text = translator(lang), small_model("lfm2"), "the cat sat"
    number = compute.read(specs.Source(kind="model", text=text, model=model)).number(1)
    assert number > 1
    app = open_app(
        "two_sequences",
        source="model",
        model=model,
        text=text,
        layer=number,
        **link_to("two_sequences", section),
        lang=lang,
    )
    values = {"model": model, "head": 1} | dict.fromkeys(("Q", "K", "d", "a", "scale"), "|")
    start = t(f"two_sequences.{key}", layer=number, **values).split("|")[0]
    assert any(element.startswith(start) for element in texts_of(app))
