"""Missing models and full queues: the user gets a notice and keeps the text; other users are undisturbed."""

from collections import Counter, OrderedDict

import pytest

from tests.running import all_elements
from viz import limits
from viz.frame import compute
from viz.frame.examples import examples
from viz.frame.queue_notice import stores
from viz.host.warmup import warm
from viz.models import registry
from viz.models.registry import Entry
from viz.scheduler.stores import Bounds
from viz.text import translator

T = translator("en")
RECOUNT = "viz.frame.compute.recount"
"""Module whose checks compute a page's numbers a second time, under cache keys of their own."""


def boxes(app):
    return [box.value for box in app.error]


@pytest.fixture
def passes(monkeypatch):
    """Count the model's forward passes by text."""
    n_passes, capture = Counter(), compute.capture

    def count(model, text, **options):
        n_passes[text] += 1
        return capture(model, text, **options)

    monkeypatch.setattr(compute, "capture", count)
    return n_passes


def test_warmup_computes_first_page(open_app, passes, monkeypatch):
    """Its example, in every layer and head."""
    for key in [*compute.results()._entries, *compute.results()._pinned]:  # what other tests left
        compute.results().forget(key[0])
    text = examples()[0].text
    warm()
    assert passes == {text: 1}
    keys, join = [], compute.results()._join_job
    monkeypatch.setattr(compute.results(), "_join_job", lambda key, *rest: keys.append(key) or join(key, *rest))
    app = open_app(text=text, layer=5, head=7)
    assert not app.exception
    page_keys = [key for key in keys if key[0][0] != RECOUNT]
    assert page_keys == [], "the page of the example computes nothing but what its checks compare with"
    open_app(text=text + " And then?")
    assert any(key[0][0] != RECOUNT for key in keys), "the test sees what is computed"
    assert passes == {text: 1, text + " And then?": 1}


def test_loaded_model_needs_no_files(open_app, monkeypatch):
    compute.model(compute.DEFAULT_MODEL)
    for place in ("local_folder", "packaged_file"):
        monkeypatch.setattr(Entry, place, lambda _: None)
    app = open_app(text="The files are gone.")
    assert boxes(app) == []
    options = app.selectbox(key="model").options
    assert compute.DEFAULT_MODEL in options and all(compute.models().holds(model) for model in options)


def test_missing_model_files_show_error(open_app, monkeypatch, tmp_path):
    monkeypatch.setattr(Entry, "local_folder", lambda _: tmp_path)
    for name in ("_entries", "_pinned"):  # nothing is loaded yet
        monkeypatch.setattr(compute.models(), name, OrderedDict())
    app = open_app(model="twin-g8", text="the cat saw")
    assert boxes(app) == [T("error.missing", model=r"twin\-g8", file=r"config\.json")]
    assert app.text_area(key="text").value == "the cat saw"


def test_full_queue_keeps_input(open_app):
    with pytest.MonkeyPatch.context() as crowded:
        crowded.setattr(stores().turns, "places", 0)
        crowded.setattr(stores().turns, "line", 0)
        app = open_app(text="There is no room for this.")
    assert boxes(app) == [T("error.crowded", n=0)]
    assert app.text_area(key="text").value == "There is no room for this."
    app.run()
    assert boxes(app) == []
    views = [
        element.proto.component_name
        for element in all_elements(app)
        if getattr(element, "type", "") == "bidi_component"
    ]
    assert "headlight.head_grid" in views, "and now it is computed"


def test_who_waits_too_long_is_told(open_app, monkeypatch):
    monkeypatch.setattr(stores().turns, "places", 0)
    monkeypatch.setattr(limits, "WAIT_SECONDS", 0)
    app = open_app(text="Nobody ever comes to this.")
    assert boxes(app) == [T("error.busy", seconds=0)]
    assert stores().turns.waiting == 0, "the place is given up"


def test_unlisted_model_is_refused(open_app, monkeypatch):
    """By name, and by the memory there is; a link to another falls back and says so."""
    names = [entry.id for entry in registry.entries() if entry.path or entry.package]
    monkeypatch.setattr(limits, "MODELS", names[:2])
    app = open_app(model=names[2])
    assert app.selectbox(key="model").options == names[:2]
    assert app.selectbox(key="model").value == names[0]
    assert any("model" in note.value for note in app.info)
    monkeypatch.setattr(stores(), "bounds", Bounds(models_bytes=10**7))
    points = [point.id for point in registry.checkpoints() if point.of == names[1]]
    assert open_app(source="embeddings").selectbox(key="model").options == [names[1], *points]
