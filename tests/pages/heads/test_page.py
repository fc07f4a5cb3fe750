"""The Heads page: its numbers are torch's, from every source and in both languages."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pages.heads.arrivals import AT_ONCE, by_messages
from tests.largest import Largest
from tests.packaged import packaged_file
from tests.running import bar_charts, checked, matrices, sentences_of
from viz.core.analysis.map_statistics import hide
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.frame.format import share
from viz.models.head_notes import note
from viz.text import LANGUAGES, translator

TEXT = examples()[0].text
E5 = "multilingual-e5-small"
REAL = specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)


def both(app, key):
    """The bars of a chart, series by series."""
    return [values.numpy() for values in bar_charts(app)[key].series.values()]


def only(app, key):
    """The bars of a chart that has one series."""
    (values,) = both(app, key)
    return values


def page_sentences(app):
    return sentences_of(app) + [element.value for kind in ("caption", "text") for element in app.get(kind)]


@pytest.mark.parametrize(
    ("lang", "model", "head", "said_of"),
    [("en", compute.DEFAULT_MODEL, (3, 1), ("it", "animal", "0.68")), ("zh", E5, (8, 8), ("它", "动物", "0.67"))],
)
def test_link_to_section_opens_known_head(open_app, lang, model, head, said_of):
    """Without a text it opens on the sentence of its language, in the model and the head that link the two."""
    if model == E5:
        packaged_file(E5)
    known_note, said_so = note(model, *head), dict(zip(("query", "key", "value"), said_of, strict=True))
    assert known_note is not None
    app = open_app(lang=lang, section="all_heads")
    assert any(known_note.text[lang] in element for element in page_sentences(app))
    assert checked(app, "all_heads") == (9, 9)
    app.session_state["heads_view"] = "row"
    assert translator(lang)("heads.row_weights", **said_so) in page_sentences(app.run())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_words_counted_in_warning(open_app, lang):
    """MiniLM knows 天 of this sentence, and nothing else."""
    app, t = open_app(lang=lang, text="今天天气好"), translator(lang)
    messages = t("note.unknown", model="all\\-MiniLM\\-L6\\-v2", n=3, all=7, token="[UNK]")
    assert messages in [element.value for element in app.warning]
    assert not open_app(lang=lang, text="今天天气好", source="words").warning


@pytest.mark.parametrize(
    ("family", "text", "key", "token"),
    [("bert", "the [MASK] was", "heads.predictions_masked", 2), ("llama", "the fox was", "heads.predictions", 6)],
)
def test_predictions_name_their_token(open_app, small_model, family, text, key, token):
    """A masked model fills a gap; a decoder goes on after the last token.."""
    app = open_app(model=small_model(family), text=text, section="switched_off", off="0")
    assert translator("en")(key, token=token) in page_sentences(app)


@pytest.mark.parametrize(("link", "model"), [({}, "folder"), ({"text": "The cat sat."}, "default")])
def test_link_without_model_uses_default(open_app, small_model, link, model):
    """With --model too; where a link asks for nothing the folder is chosen, and stands in the link from then on."""
    folder = small_model("bert")
    app = open_app(**link)
    assert app.session_state["model"] == {"folder": folder, "default": compute.DEFAULT_MODEL}[model]
    assert app.query_params.get("model", "") == (folder if model == "folder" else "")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_temperature_leaves_row_unchanged(open_app, lang):
    t = translator(lang)
    app = open_app(lang=lang, temperature=5, query=5, heads_view="row")
    assert t("heads.part_at_one", T=5) in page_sentences(app)
    row = only(app, "row")
    torch.testing.assert_close(torch.tensor(row), compute.read(REAL).layer(3).weights[1, 5])
    assert t("heads.part_at_one", T=1) not in page_sentences(open_app(lang=lang, heads_view="row"))


def test_arrival_shares_with_masked_rows(open_app):
    weight, message = both(open_app(section="arrivals", **BLIND), "arrive")
    assert weight.sum() == pytest.approx(1, abs=1e-5)
    assert message.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("stage", ["contributions", "concat", "w_o", "output"])
def test_what_leaves_the_heads(open_app, stage):
    app = open_app(source="words", section="joined", after=stage)
    _, plotted = matrices(app)[f"after_{stage}"]
    rows = {"contributions": 4 + 1, "w_o": 16}.get(stage, 12)
    assert plotted.shape == (rows, 12 if stage == "contributions" else 16)


BLIND = {"source": "words", "mask": "both", "pad_left": 1, "pad": 3}
ALL = {"source": "words", "mask": "padding", "pad": 32}
"""The first three queries may look nowhere; none may."""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_heads_off_average_skips_masked_rows(open_app, lang):
    app, t = open_app(section="switched_off", off="0", lang=lang, **BLIND), translator(lang)
    local_value, end = both(app, "change")
    assert np.isnan(local_value[:3]).all() and np.isfinite(local_value[3:]).all()
    assert t("heads.off_found", n=1, here=share(local_value[3:].mean()), end=share(end.mean())) in page_sentences(app)
    app = open_app(section="switched_off", off="0", lang=lang, **ALL)
    end = both(app, "change")[1]
    assert t("heads.off_found", n=1, here=share(0.0), end=share(end.mean())) in page_sentences(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("what", ["weights", "scores"])
def test_fully_masked_row_sentence(open_app, what, lang):
    app, t = open_app(query=0, what=what, lang=lang, heads_view="row", **BLIND), translator(lang)
    assert t("head_grid.says_blind", q="The") in page_sentences(app)
    assert not any("-inf" in element for element in page_sentences(app))


@pytest.mark.parametrize("what", ["weights", "scores"])
def test_row_with_hidden_keys_sentence(open_app, what):
    app = open_app(query=1, what=what, hide=1, mask="padding", pad=15, heads_view="row")  # [CLS] is left
    assert translator("en")("head_grid.says_blind", q="1 · the") in page_sentences(app)


def test_hidden_specials_renormalise_and_say_so(open_app):
    app = open_app(hide="1", query=5, heads_view="row")  # counted with [CLS]
    assert translator("en")("view.hide_says") in page_sentences(app)
    row = only(app, "row")
    special = torch.tensor(compute.read(REAL).tokens.special)
    expected = hide(compute.read(REAL).layer(3).weights[1], ~special, ~special)[4]
    np.testing.assert_allclose(row, expected.numpy(), atol=1e-6)
    assert row.sum() == pytest.approx(1, abs=1e-5)


def test_merged_words(open_app):
    app = open_app(merge="1", text="electroencephalography works", heads_view="row")
    names = bar_charts(app)["row"].header["labels"]
    assert names == ["[CLS]", "electroencephalography", "works", "[SEP]"]


def test_masked_scores_show_no_nan(open_app):
    app = open_app(what="scores", mask="causal", query=2, merge="1", hide="1", heads_view="row")
    row = only(app, "row")
    assert np.isfinite(row[:2]).all()
    assert np.isnan(row[2:]).all()
    assert not any("nan" in element for element in page_sentences(app))


def test_messages_summed_in_chunks():
    """All of 512 tokens at once are 400 MB, in a page's script, which no ceiling counts."""
    weights, messages = torch.rand(7, 37), torch.randn(37, 11)
    with Largest() as largest:
        added_up, lengths = by_messages(weights, messages)
    assert largest.numbers <= 7 * AT_ONCE * 11 < 7 * 37 * 11
    assert_close(added_up, weights @ messages)
    assert_close(lengths, weights.sum(0) * messages.norm(dim=-1))


@pytest.mark.parametrize(("source", "shown_place"), [("model", [True]), ("words", [False]), ("gpt_oss", [])])
def test_arcs_say_whose_row_is_whole(open_app, small_model, source, shown_place):
    """Own words are no model's, and of a row that a sink takes from nothing is said to go to the word itself."""
    app = open_app("heads", section="all", **({"model": small_model(source)} if "_" in source else {"source": source}))
    arcs = [view.proto.json for view in app.get("bidi_component") if view.proto.id.endswith("-arcs")]
    assert ['"from_now": ""' not in data for data in arcs] == shown_place and not app.exception
