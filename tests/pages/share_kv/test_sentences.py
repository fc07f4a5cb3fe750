"""Sentences of the Sharing page: true for every number of heads, of layers and of tokens, and for every mask."""

import pytest

from tests.running import sentences_of
from tests.sections import link_to
from viz import limits
from viz.components.unpack import unpack
from viz.frame.scene import model_own
from viz.text import LANGUAGES, translator

TEXT = "the cat sat"
SEEDED = {"source": "words", "text": TEXT}
TWIN = {"model": "twin-g2", "text": "red blue red blue"}
BIASED = {"model": "animals-en-zh", "text": "cat dog"}
NOWHERE = {"mask": "padding", "pad": 16}
pytestmark = pytest.mark.usefixtures("without_source_checks")


@pytest.fixture(params=LANGUAGES)
def t(request):
    return translator(request.param)


@pytest.fixture
def visit(open_app, request, t):
    """Open a section of the page in the test's language."""

    def open_section(section, **link):
        link = link_to("share_kv", section) | link
        app = open_app("share_kv", lang=request.node.callspec.params["t"], **link)
        assert not app.exception
        return app

    return open_section


def texts_of(app):
    return sentences_of(app) + [element.value for kind in ("caption", "text", "info") for element in app.get(kind)]


def map_titles(app):
    maps = [view for view in app.get("bidi_component") if view.proto.component_name == "headlight.maps"]
    return [panel["title"] for view in maps for panel in unpack(view.proto.bytes)[0]["maps"]]


def lines_of_checks(app, section):
    app.session_state[f"_footer_{section}"] = "checks"
    return texts_of(app.run())


@pytest.mark.parametrize("tokens", [4, limits.SHARED_TOKENS + 4])
def test_cache_checks_count_their_tokens(visit, t, tokens):
    """A picture of the first tokens alone is checked on these."""
    app = visit("growing_cache", source="words", text=" ".join(["a", "b"] * (tokens // 2)))
    n = min(tokens, limits.SHARED_TOKENS)
    lines = "\n".join(lines_of_checks(app, "growing_cache"))
    assert t("share_kv.check_decode", tokens=n) in lines
    assert t("share_kv.check_cache", tokens=n, n=f"{n * 2 * 2 * 4 * 2:,}") in lines


@pytest.mark.parametrize("link", [TWIN, SEEDED, {"model": "twin-g1", "text": TEXT}])
def test_single_key_value_head_is_named(visit, t, link):
    texts = texts_of(visit("converted", **link))
    assert (t("share_kv.convert_model") in texts) == (link is SEEDED)
    assert (t("share_kv.convert_one") in texts) == (link.get("model") == "twin-g1")


@pytest.mark.parametrize(("link", "is_biased"), [(BIASED, True), (TWIN, False), (SEEDED, False)])
def test_latent_says_what_is_missing(visit, t, link, is_biased):
    """A head that shares has no keys of its own, and a model's bias and scale are not left out silently."""
    app = visit("latent", head=1, **link)
    assert (t("share_kv.latent.own_scores") in texts_of(app)) == is_biased
    assert map_titles(app)[0] == t("share_kv.latent.map_standard", head=1)


@pytest.mark.parametrize(
    ("section", "link", "are_own"),
    [
        ("who_shares", {}, True),
        ("who_shares", {"mistake": 1}, False),
        ("across_layers", {"group_size": 1}, True),
        ("across_layers", {"group_size": 2}, False),
    ],
)
def test_wrong_pairs_are_no_model_numbers(visit, t, section, link, are_own):
    """The model computes nothing from keys that are not a query's own."""
    assert (model_own(t, "twin-g2") in texts_of(visit(section, **TWIN, **link))) == are_own


@pytest.mark.parametrize(("G", "is_pooled"), [(1, True), (2, False)])
def test_latent_layer_is_not_pooled(visit, t, G, is_pooled):
    assert (t("share_kv.latent.as_trained", own=2) in texts_of(visit("latent", n_kv_heads=G, **TWIN))) == is_pooled
