"""Two texts side by side, without a browser: the pairs of tokens, and the sentences."""

import json
from statistics import mean

import numpy as np
import pytest
import torch

from tests.running import checked, sentences_of
from viz import limits
from viz.components.comparison import two_maps, unpacked
from viz.components.head_grid import Packed
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.models.trained.twins import REPEATING
from viz.text import LANGUAGES, paragraph, translator

TIRED = examples()[0].text
WIDE = TIRED.replace("tired", "wide")
T = translator("en")


def captions(app):
    return [caption.value for caption in app.caption]


def view_payload(app):
    """The words and choices of the view, the small maps and the two large ones."""
    views = {element.proto.id.split("-")[-1]: element.proto for element in app.get("bidi_component")}
    data, wall, two = (views[name] for name in ("comparison", "comparison_wall", "comparison_two"))
    return json.loads(data.json)[0], *(unpacked(Packed(data=view.bytes, id="")) for view in (wall, two))


@pytest.mark.parametrize(("lang", "other_text"), [("en", WIDE), ("zh", "这只动物没有过马路，它太宽了。")])
def test_comparison_opens_with_paired_text(open_app, lang, other_text):
    app, t = open_app(lang=lang), translator(lang)
    before = {name: app.query_params[name] for name in app.query_params}
    app.button_group(key="section").set_value("compare").run()
    assert app.text_area(key="text_b").value == other_text
    assert {name: app.query_params[name] for name in app.query_params} == before | {"section": "compare"}
    n = len(compute.read(specs.Source(kind="model", text=other_text, model=app.session_state["model"])).tokens.ids)
    assert paragraph(t("second.same", n=n - 1), t("second.replaced", n=1)) in captions(app)
    assert checked(app, "compare") == (7, 7)


def test_all_heads_links_to_comparison(open_app):
    links = [
        [element.body for element in open_app(**link).get("html") if "section=compare" in element.body]
        for link in ({}, {"text": "no pair"})
    ]
    assert [WIDE.replace("'", "&#x27;") in link for link in links[0]] == [True] and links[1] == []


def test_unmatched_token_is_nan(open_app):
    """A token that only one text has is NaN in the other's map, not zero."""
    data, _, two = view_payload(open_app(section="compare", text="it was tired", text_b="it was very tired"))
    a, b = two_maps(two)
    assert data["labels"]["difference"][1:-1] == ["it", "was", "+ very", "tired"]
    assert np.isnan(a[3]).all() and np.isnan(a[:, 3]).all()
    assert not np.isnan(b).any()
    np.testing.assert_allclose(np.nansum(a, -1)[[0, 1, 2, 4, 5]], 1, atol=1e-4)


@pytest.mark.parametrize(
    ("link", "key", "values"),
    [
        ({"text_b": "  "}, "error.empty", {}),
        (
            {"text": "今天天气好"},
            "note.unknown",
            {"model": "all\\-MiniLM\\-L6\\-v2", "n": 3, "all": 7, "token": "[UNK]"},
        ),
        ({"text_b": "a" * (limits.CHARACTERS + 3)}, "note.dropped_characters", {"n": 3}),
    ],
)
def test_second_text_limits_shown(open_app, link, key, values):
    app = open_app(section="compare", **link)
    assert not app.exception
    assert T(key, **values) in [box.value for box in (*app.error, *app.warning)]


def test_equal_texts_noted(open_app):
    app = open_app(section="compare", text="no pair is known")
    assert app.text_area(key="text_b").value == "no pair is known"
    assert T("second.no_change") in captions(app)
    _, wall, _ = view_payload(app)
    assert not wall["measures"].any()


def test_second_model_opens_most_similar_head(open_app):
    """Two twins read the same tokens; at first it is the head that is most alike."""
    data, wall, two = view_payload(
        open_app(section="compare", model="twin-g1", model_b="twin-g8", text="red blue red", head=2)
    )
    a, b = (
        compute.read(specs.Source(kind="model", text="red blue red", model=name)) for name in ("twin-g1", "twin-g8")
    )
    changes = torch.cat([(a.layer(1).weights[2] - b.layer(i).weights).abs().sum(-1).mean(-1) / 2 for i in range(2)])
    np.testing.assert_allclose(wall["measures"], changes.numpy(), atol=1e-5)
    layer, head = divmod(int(changes.argmin()), 8)
    assert (data["choice"]["layer_b"], data["choice"]["head_b"]) == (layer, head)
    assert wall["order"] == ["alike"]
    np.testing.assert_allclose(two_maps(two)[1], b.layer(layer).weights[head].numpy(), atol=1e-5)


def most_copied(layers):
    """The most that a head gives, on average over words that come again, to what came after them before."""
    words = REPEATING.split()
    places = {row: [j + 1 for j in range(row) if words[j] == word] for row, word in enumerate(words)}
    heads = [head.tolist() for layer in layers for head in layer]
    return f"{max(mean(sum(head[row][j] for j in of) for row, of in places.items() if of) for head in heads):.2f}"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_training_checkpoints_compared_by_head(open_app, lang):
    """Compare each head with itself at another checkpoint, and name the one that copies."""
    names = "twin-g8-step-200", "twin-g8"
    app = open_app(section="compare", model=names[0], model_b=names[1], text=REPEATING, lang=lang)
    data, wall, _ = view_payload(app)
    a, b = (compute.read(specs.Source(kind="model", text=REPEATING, model=name)) for name in names)
    changes = torch.cat([(a.layer(i).weights - b.layer(i).weights).abs().sum(-1).mean(-1) / 2 for i in range(2)])
    np.testing.assert_allclose(wall["measures"], changes.numpy(), atol=1e-5)
    assert wall["order"] == ["change"] and "layer_b" not in data["choice"]
    assert tuple(data["titles"][:2]) == names
    numbers = {most_copied(capture.layer(i).weights for i in range(2)) for capture in (a, b)}
    assert numbers == {"0.22", "0.84"}
    sentences = [element.proto.body for element in app.get("html")]
    assert any(all(part in element for part in (*numbers, *names)) for element in sentences)
    assert checked(app, "compare") == (9, 9)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_best_head_under_a_mask(open_app, lang):
    """No head copies best under a mask that hides from every word what came next last time."""
    t = translator(lang)
    link = {"section": "compare", "model": "twin-g8-step-200", "model_b": "twin-g8", "lang": lang}
    for mask, is_hidden in ({"mask": "padding", "pad": 9}, True), ({}, False):
        app = open_app(text="red blue red blue", **link, **mask)
        assert not app.exception
        sentences = " ".join(sentences_of(app))
        assert (t("second.copy_hidden") in captions(app)) == is_hidden
        assert (t("second.copying").partition("{")[0] in sentences) == (not is_hidden)


def test_checkpoint_button_and_repeating_text(open_app):
    """One click opens an earlier checkpoint; without repetition there is nothing to copy."""
    app = open_app(section="compare", model="twin-g8").button(key="earlier").click().run()
    models = [app.selectbox(key=key).value for key in ("model", "model_b")]
    assert models == ["twin-g8-step-200", "twin-g8"], "the difference is what was learned"
    assert app.text_area(key="text").value == app.text_area(key="text_b").value == REPEATING
    assert not [element for element in app.button if element.key in ("earlier", "repeating")]
    app = open_app(section="compare", model="twin-g8", model_b="twin-g8-step-300", text="red blue")
    assert T("second.nothing_to_copy") in captions(app)
    assert app.button(key="repeating").click().run().text_area(key="text").value == REPEATING
    assert not [element for element in open_app(section="compare").button if element.key == "earlier"]


def test_checkpoints_listed_beside_their_model(open_app):
    points = [f"twin-g8-step-{step}" for step in (200, 300, 400)]
    assert not {*points} & {*open_app(section="compare").selectbox(key="model").options}
    app = open_app(section="compare", model="twin-g8-step-300")
    assert app.selectbox(key="model").value == points[1] and {*points} < {*app.selectbox(key="model").options}
    assert app.selectbox(key="model_b").options[1:4] == ["twin-g8", points[0], points[2]]
    assert not {*points} & {*open_app(section="compare", model="twin-g1").selectbox(key="model_b").options}


def test_a_link_brings_the_comparison_back(open_app):
    link = {"section": "compare", "text_b": "The animal slept.", "compared": "arrives", "layer": 1, "head": 3}
    app = open_app(**link)
    assert {name: app.query_params[name] for name in app.query_params} == {n: str(v) for n, v in link.items()}
    _, _, two = view_payload(app)
    assert two["what"] == "arrives"
    trace = compute.read(specs.Source(kind="model", text=link["text_b"], model=compute.DEFAULT_MODEL)).multi_head(1)
    block = trace.projections.w_o[96:128]
    lengths = (trace.weights[3].unsqueeze(-1) * (trace.v[3] @ block)).norm(dim=-1)
    b = two_maps(two)[1]
    there = ~np.isnan(b).all(-1)
    np.testing.assert_allclose(b[there][:, there], lengths.numpy(), atol=1e-4 * two["limit"])
