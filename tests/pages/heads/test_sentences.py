"""Sentences of the Heads page: true under every mask, of every head and of two texts."""

import pytest

from tests.running import sentences_of
from viz.frame import compute, specs
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("without_source_checks")
WORDS = {"source": "words", "text": "the cat sat"}


def texts_of(app):
    assert not app.exception
    return sentences_of(app) + [element.value for kind in ("caption", "text") for element in app.get(kind)]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("what", ["weights", "scores"])
@pytest.mark.parametrize(("link", "adds_up"), [({}, True), ({"mask": "padding", "pad": 32}, False)])
def test_row_adds_up_where_it_does(open_app, lang, what, link, adds_up):
    """A row that may look nowhere has no weights, whatever is drawn."""
    app = open_app("heads", **WORDS, heads_view="row", what=what, lang=lang, **link)
    assert (translator(lang)("heads.row_sum") in texts_of(app)) == adds_up


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("hide", [0, 1])
def test_sink_row_adds_up_when_hidden(open_app, small_model, lang, hide):
    """Without special tokens a row is scaled up to 1 again: then what it sums to is not what the sink leaves."""
    t = translator(lang)
    link = {"model": small_model("gpt_oss"), "heads_view": "row", "hide": hide, "lang": lang}
    texts = texts_of(open_app("heads", source="model", text="the cat sat", **link))
    assert (t("heads.row_sum") in texts) == bool(hide)
    assert any(text.endswith(t("heads.row_nowhere", query="X", value="X").split("X")[-1]) for text in texts)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("link", "arrives"), [({}, True), ({"mask": "padding", "pad": 32}, False)])
def test_nothing_arrives_from_nowhere(open_app, lang, link, arrives):
    t = translator(lang)
    texts = texts_of(open_app("heads", **WORDS, section="arrivals", lang=lang, **link))
    assert (t("heads.arrive_nothing", head=1) in texts) != arrives
    start = t("heads.arrive_found", head=1, first="X", first_message="X").split("X")[0]
    assert any(text.startswith(start) for text in texts) == arrives


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "text_b", "query", "key", "names"),
    [
        ("cat", "bird", 0, 0, ("cat → bird", "cat → bird")),
        ("the cat sat", "the dog sat", 0, 1, ("the", "cat → dog")),
        ("the cat sat", "the dog sat", 0, 2, ("the", "sat")),
    ],
)
def test_replaced_word_has_both_names(open_app, lang, text, text_b, query, key, names):
    """The second text has no "cat" to look at."""
    t = translator(lang)
    link = {"section": "compare", "compare_view": "one_row", "query": query, "key": key, "lang": lang}
    texts = texts_of(open_app("heads", source="words", text=text, text_b=text_b, **link))
    values = dict.fromkeys(("score", "score_b", "weight", "weight_b"), "|")
    start = t("heads.compare_pair", query=names[0], key=names[1], **values).split("|")[0]
    assert any(element.startswith(start) for element in texts)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_missing_key_says_nothing_of_query(open_app, lang):
    """A query that was replaced is not in both texts."""
    link = {"section": "compare", "compare_view": "one_row", "query": 0, "key": 1, "lang": lang}
    texts = texts_of(open_app("heads", source="words", text="cat dog", text_b="bird", **link))
    assert translator(lang)("heads.compare_no_key", query="cat → bird", key="dog") in texts


@pytest.mark.parametrize("lang", LANGUAGES)
def test_layer_has_models_own_number(open_app, small_model, lang):
    """In a hybrid the second layer that attends is not layer 1."""
    t, model, text = translator(lang), small_model("lfm2"), "the cat sat"
    number = compute.read(specs.Source(kind="model", text=text, model=model)).number(1)
    assert number > 1
    values = dict.fromkeys(("query", "key", "model", "model_b", "weight", "weight_b", "head", "head_b"), "|")
    for first, second, role in ((model, "twin-g2", "layer"), ("twin-g2", model, "layer_b")):
        link = {"model": first, "model_b": second, "section": "compare", "compare_view": "one_row", "lang": lang}
        link |= {role: number}
        texts = texts_of(open_app("heads", source="model", text=text, query=1, key=1, **link))
        layers = {"layer": "|", "layer_b": "|"} | {role: number}
        pieces = [piece for piece in t("heads.compare_models", **values, **layers).split("|") if len(piece) > 2]
        assert any(all(piece in element for piece in pieces) for element in texts)
