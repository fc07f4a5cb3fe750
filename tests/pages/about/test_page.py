"""The page about the program: its facts agree with the project's files."""

import re

import pytest
import yaml

from pages.about.page import CITATION
from viz import ROOT
from viz.frame.available_models import models_here
from viz.models.layout import families
from viz.text import LANGUAGES, translator


@pytest.mark.parametrize("lang", LANGUAGES)
def test_page_headers_models_and_families(open_app, lang):
    """Five headers, the models of this machine, and the families that can be loaded."""
    app, t = open_app("about", lang=lang, text="zebra"), translator(lang)
    assert app.title[0].value == t("about.title")
    assert [header.value for header in app.header] == [
        t(f"about.{p}") for p in ("what", "privacy", "licence", "cite", "runs")
    ]
    assert list(app.dataframe[0].value[t("about.model")]) == list(models_here())
    assert any(all(f"`{family}`" in caption.value for family in families()) for caption in app.caption)
    assert not app.exception and not app.text_area
    assert app.query_params["text"] == "zebra", "the text is kept"


def test_source_link_follows_limit(open_app, monkeypatch):
    """Link the source only where the operator sets its address."""
    assert not open_app("about").get("link_button")
    monkeypatch.setattr("viz.limits.SOURCE", "https://example.org/headlight")
    (link,) = open_app("about").get("link_button")
    assert link.proto.url == "https://example.org/headlight"


def test_citation_equals_citation_file():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    bibtex = dict(re.findall(r"(\w+) += \{+([^}]+)\}+", CITATION))
    assert bibtex == {
        "title": cited["title"], "author": cited["authors"][0]["name"], "version": cited["version"],
        "date": str(cited["date-released"]), "license": cited["license"],
    }  # fmt: skip
