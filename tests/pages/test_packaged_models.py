"""The models of requirements-models.txt on every page: nothing is refused, and every check holds."""

import pytest

from pages import PAGES
from tests.packaged import packaged_file
from tests.running import checked
from tests.sections import views_of
from viz.models.registry import SMALL_DECODER
from viz.text import translator

pytestmark = pytest.mark.usefixtures("memory_given_back")

LINKS = (
    # An encoder that reads Chinese, all of a page; a decoder of 30 layers, the section a page opens on.
    {
        "model": "multilingual-e5-small",
        "layer": 8,
        "head": 8,
        "text": "这只动物没有过马路，它太累了。",
        "section": "all",
    },
    {"model": "SmolLM2-135M-Instruct", "layer": 29, "head": 8, "text": "In 2024 它 sat down."},
)


@pytest.mark.fast("e5-masks", "smollm2-masks")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("link", LINKS, ids=["e5", "smollm2"])
def test_every_page_shows_it(open_app, page, link):
    reader = SMALL_DECODER if page == "next_word" else link["model"]  # where a decoder is needed: in e5's stead
    for model in (link["model"], reader):
        packaged_file(model)
    app = open_app(page, **link)
    assert not app.exception and not app.error
    instead = translator("en")("next_word.example", model=reader)
    assert any(instead in element.value for element in app.caption) is (reader != link["model"])
    assert not any("[UNK]" in warning.value or "<unk>" in warning.value for warning in app.warning)
    n_holding = [checked(app, name) for name in views_of(page)]
    assert all(n_passed == n for n_passed, n in n_holding) and any(n for _, n in n_holding)
    # Step by step opens on three words, which no model reads: the link keeps it.
    where = app.session_state if "model" in app.session_state else app.query_params
    assert where["model"] == link["model"]


def test_unknown_word_warning_e5_only(open_app):
    for link, is_told in zip(LINKS, (True, False), strict=True):
        packaged_file(link["model"])
        app = open_app(**link | {"text": "cat 𓃠 <|endoftext|>", "heads_view": "numbers"})
        assert any(" 1 " in warning.value for warning in app.warning) is is_told


def test_float32_overflow_noted_without_failures(open_app):
    packaged_file("SmolLM2-135M-Instruct")
    app = open_app("block", section="all", model="SmolLM2-135M-Instruct", text="In 2024", layer=12, normalize=0)
    assert not app.exception and not app.error
    assert [element.value for element in app.info] == 3 * [translator("en")("block.outgrown")]
    counts = {name: checked(app, name) for name in views_of("block")}
    assert [name for name, (_, n) in counts.items() if not n] == ["diagram", "points", "encoder_decoder"]
