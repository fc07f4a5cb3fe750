"""A section has a text box and a chip of the model where they change its picture, and nowhere else."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.packaged import packaged_file
from tests.running import sentences_of
from tests.sections import SECTIONS, page_named
from tests.shown.digests import Digest, digests_of
from viz.errors import ModelError
from viz.frame import compute

pytestmark = pytest.mark.usefixtures("memory_given_back")

OTHER_TEXTS = ("An old sailor watched the red kite that fell into the sea.", "An old red kite.")
OTHER_MODELS = (
    {"source": "words", "d_model": 8, "n_heads": 2, "seed": 1},
    {"model": "SmolLM2-135M-Instruct"},
    {"model": "animals-en-zh"},
)
LOOKED_AT = {("atlas", "map"): {"atlas_score": "punctuation"}, ("atlas", "spread"): {"atlas_of": "punctuation"}}
"""Choices for sections whose default choice is rounded to the same number for every text."""


@pytest.mark.fast("masks-decoding", "masks-layers", "heads-all_heads")
@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_section_reads_text_as_marked(open_app, page, section):
    """Another text or model changes the section's data in the browser if the section reads it."""
    packaged_file(OTHER_MODELS[1]["model"])
    section_ = next(part for part in page_named(page).sections if part.name == section)
    link = {"section": section} | LOOKED_AT.get((page, section), {})
    app = open_app(page, **link)
    default = payload(app)
    reads_text = any(payload(open_app(page, **link, text=text)) != default for text in OTHER_TEXTS)
    with_others = [payload(open_app(page, **link, **model_link)) for model_link in OTHER_MODELS]
    reads_model = reads_text or any(with_other != default for with_other in with_others)
    section_reads_text = section_.reads_text
    assert (
        section_reads_text(compute.model(app.session_state["model"]))
        if callable(section_reads_text)
        else section_reads_text
    ) == reads_text
    assert bool(section_.reads_text or section_.reads_model) == reads_model


def payload(app: AppTest) -> tuple[list[Digest], list[str]]:
    """Return the numbers of a section's pictures, and its sentences with numbers."""
    assert not app.exception
    return digests_of(app), [sentence for sentence in sentences_of(app) if any(map(str.isdigit, sentence))]


def test_text_unread_stays_with_session(open_app):
    """A section without a text has neither the box nor the text in its link; the next one finds it again."""
    link = {"text": "one two three", "source": "words"}
    app = open_app("convolution", section="slips", **link)
    assert not {"text", "source"} & {control.key for control in (*app.text_area, *app.radio)}
    assert not link.keys() & {*app.query_params}
    app.button_group(key="section").set_value("windows").run()
    assert app.text_area(key="text").value == link["text"]
    assert {name: app.query_params[name] for name in link} == link


@pytest.mark.parametrize(
    "place", ["queue_notice._enter", "page.read_inputs", "page.open_scene", "page.Page._draw_sections"]
)
def test_link_outlasts_failed_run(open_app, monkeypatch, place):
    """The parameters that a busy server could not read stay in the address for a reload, and are read later."""
    link = {"text": "one two three", "source": "words", "query": "2", "heads_view": "row"}

    def fail(*_: object) -> None:
        raise ModelError("busy", seconds=1)

    with monkeypatch.context() as busy:
        busy.setattr(f"viz.frame.{place}", fail)
        app = open_app("heads", **link)
        assert [error.value for error in app.error]
        assert {name: "".join(app.query_params[name]) for name in app.query_params} == link
    app.run()
    assert not app.error and not app.exception
    assert {name: "".join(app.query_params[name]) for name in app.query_params} == link
    assert (app.session_state["query"], app.session_state["heads_view"]) == (2, "row")
