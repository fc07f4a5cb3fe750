"""The start page: without a model, its links, and the state that stays with the user."""

import json
import re
from html import unescape
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
import torch
from torch.testing import assert_close

from pages import FIRST
from pages.start.sentences import pairs
from tests.frame.test_examples import CHINESE
from tests.packaged import packaged_file
from tests.running import link_of
from viz.errors import ModelError
from viz.frame import compute, specs
from viz.frame.connection import loading
from viz.frame.sidebar import file_of, path_of
from viz.lessons.lesson_file import lessons
from viz.text import LANGUAGES, translator


def view_payload(app, view):
    """View data, None if the view is missing."""
    result = [
        element.proto for element in app.get("bidi_component") if element.proto.component_name == f"headlight.{view}"
    ]
    return json.loads(result[0].json)[0] if result else None


def doors(app):
    """The ways in: each link with what it says."""
    body = "".join(element.proto.body for element in app.get("html"))
    return [
        (unescape(to), name) for to, name in re.findall(r'<a class="see alone" href="([^"]+)"><strong>([^<]+)', body)
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentence_doors_and_page_links(open_app, lang):
    app, t = open_app(FIRST, lang=lang), translator(lang)
    assert not app.exception and not app.text_area and app.title[0].value == t("start.headline")
    visible = view_payload(app, "arcs")
    assert {name: visible[name] for name in pairs()[lang]} == pairs()[lang]
    first = lessons()[0]
    assert doors(app) == [
        (f"{path_of(first.steps[0].page)}?lang={lang}&lesson={first.name}&lesson_step=1", t("start.new")),
        (f"lessons?lang={lang}", t("start.teach")),
        (f"heads?lang={lang}", t("start.know")),
    ]
    assert link_of(app) == ({} if lang == "en" else {"lang": lang})


def test_embedded_start_opens_heads(open_app):
    """In another site's page there is no start: Heads opens, with what the link asks for."""
    app = open_app(FIRST)
    app.context["is_embedded"] = True
    app.query_params |= {"text": "a & b", "layer": "5"}
    app.run()
    to = urlsplit(view_payload(app, "reopen")["address"])
    assert (to.path, dict(parse_qsl(to.query))) == ("/heads", {"text": "a & b", "layer": "5"})
    assert not app.title and view_payload(app, "arcs") is None


def test_choices_stay_in_links_only(open_app):
    """Keep the user's choices out of this page's URL, and in the links it shows."""
    app = open_app("heads", source="words", text="a b c", d_model=8, n_heads=2)
    app.switch_page(file_of(FIRST)).run()
    assert link_of(app) == {} and view_payload(app, "arcs")
    selection = {"lang": "en", "text": "a b c", "source": "words", "n_heads": "2", "d_model": "8"}
    assert dict(parse_qsl(urlsplit(doors(app)[2][0]).query)) == selection
    app.switch_page(file_of("masks")).run()
    assert {name: app.session_state[name] for name in ("source", "text", "n_heads")} == {
        "source": "words",
        "text": "a b c",
        "n_heads": 2,
    }


@pytest.mark.parametrize("way", [("heads",), ("masks",), ("glossary", "heads")])
def test_chinese_start_leads_to_chinese_sentence(open_app, way):
    packaged_file(CHINESE["model"])
    app = open_app(FIRST, lang="zh")
    for page in way:
        app.switch_page(file_of(page)).run()
    assert not app.exception
    assert {name: app.session_state[name] for name in ("text", "model", "layer")} == {
        name: CHINESE[name] for name in ("text", "model", "layer")
    }


def test_link_parameter_counts_as_choice(open_app):
    app = open_app(FIRST, lang="zh")
    app.query_params["layer"] = "2"
    app.switch_page(file_of("masks")).run()
    app.run()
    assert app.session_state["text"] != CHINESE["text"]


SENTENCE = "The cat sat on the mat because it was warm."


@pytest.mark.parametrize(
    ("lang", "text", "of"),
    [
        ("en", SENTENCE, "en"),
        ("zh", SENTENCE, "en"),
        ("zh", "猫坐在垫子上。", "zh"),
        ("en", "Cat", "en"),
        ("en", "a a a a", "en"),
        ("en", "It didn't see it.", "en"),
    ],
)
def test_own_sentence_keeps_the_arcs(open_app, lang, text, of):
    """One head of the model of its language, with that model's own weights; it opens on the strongest tie."""
    packaged_file(CHINESE["model"])
    app = open_app(FIRST, lang=lang, sentence=text)
    assert not app.exception and not app.error and link_of(app)["sentence"] == text
    visible, pair = view_payload(app, "arcs"), pairs()[of]
    assert visible["lang"] == lang and visible["made"] == ""
    assert {name: visible[name] for name in ("model", "layer", "head")} == {
        name: pair[name] for name in ("model", "layer", "head")
    }
    (sentence,) = visible["sentences"]
    assert sentence["text"] == text
    weights = compute.read(specs.Source(kind="model", text=text, model=pair["model"])).layer(pair["layer"]).weights
    result = torch.tensor(sentence["weights"]) / visible["whole"]
    assert_close(result, weights[pair["head"]], atol=1e-4, rtol=0)
    words = torch.tensor([any(map(str.isalnum, label)) for label in sentence["labels"]]) & ~torch.tensor(
        sentence["special"]
    )
    words &= torch.tensor([label not in ("didn", "t") for label in sentence["labels"]])
    apart = (torch.arange(len(words))[:, None] - torch.arange(len(words))).abs()
    among = result * words * words[:, None] * (apart > (1 if words.sum() > 2 else 0))
    assert among[visible["at"]].max() == among.max() and words[visible["at"]]


@pytest.mark.parametrize("text", ["", "  ", "word " * 200, "猫坐在垫子上。" * 20])
def test_sentence_without_arcs(open_app, text):
    """Nothing typed is the example; a long text is opened on Heads, with the model that reads its language."""
    packaged_file(CHINESE["model"])
    lang = "zh" if text.startswith("猫") else "en"
    app = open_app(FIRST, lang=lang, sentence=text)
    assert not app.exception
    if text.strip():
        title, box = app.title[0].value, app.text_area(key="text").value
        assert (title, box) == (translator(lang)("heads.title"), text)
        assert (app.session_state["model"] == CHINESE["model"]) == (lang == "zh")
    else:
        assert len(view_payload(app, "arcs")["sentences"]) == 2


def test_unusable_model_leaves_example(open_app, monkeypatch):
    """Show one error sentence beside the example."""

    def fail(_):
        raise ModelError("missing", model="all-MiniLM-L6-v2", file="model.safetensors")

    monkeypatch.setattr(compute, "read", fail)
    app = open_app(FIRST, sentence=SENTENCE)
    assert len(app.error) == 1 and not app.exception
    assert len(view_payload(app, "arcs")["sentences"]) == 2


@pytest.mark.parametrize(
    ("own_models", "available", "loaded_models"),
    [
        ([], {"default"}, ["default"]),
        (["mine"], {"mine", "default"}, ["mine"]),
        ([], set(), []),
        (["mine"], {"default"}, []),
    ],
)
def test_loading_loads_opening_model(monkeypatch, own_models, available, loaded_models):
    requests, imported = [], []
    known_note = SimpleNamespace(
        DEFAULT_MODEL="default",
        warm=lambda: None,
        model=requests.append,
        models_here=lambda: available,
        local_entries=lambda: [SimpleNamespace(id=name) for name in own_models],
    )
    monkeypatch.setattr(loading, "_MOMENT", 0)
    monkeypatch.setattr(loading, "module", lambda name: imported.append(name) or known_note)
    loading._load("pages.heads.page")
    assert requests == loaded_models and "pages.heads.page" in imported


def test_loading_starts_once_after_paint(open_app, monkeypatch):
    threads = []
    monkeypatch.setattr(loading, "_threads", threads)
    monkeypatch.setattr(loading, "_COMPUTE", "viz.frame.not_imported_yet")
    monkeypatch.setattr(loading, "_load", lambda *modules: None)
    assert view_payload(open_app(FIRST), "arcs")["asks"] and not threads, "the browser says when it has painted"
    for _ in range(2):
        loading.begin("viz.frame.page")
    assert [thread.name for thread in threads] == ["loading"]
    assert not view_payload(open_app(FIRST), "arcs")["asks"]
