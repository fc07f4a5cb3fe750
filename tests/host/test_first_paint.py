"""The app's style and the static first paint in Streamlit's page, before Streamlit draws."""

import re

import pytest

from pages import EVERY, NAVIGATION
from viz.frame.sidebar import path_of
from viz.host import first_paint
from viz.host.first_paint import FRAME, ROOT_ELEMENT, StaticPaint, paint_style, style
from viz.streamlit_internals.static import index_page
from viz.text import LANGUAGES, translator

PAINT = StaticPaint(navigation=NAVIGATION, pictures={"heads": lambda lang: f"<i>{lang}</i>"})
HOSTILE = "<img src=x onerror=alert(1)>&\"'"
ESCAPED = "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#x27;"


def paint(name="heads", lang="en", is_default=True):
    """The page with its first paint."""
    return PAINT.add_to(index_page(), name=name, lang=lang, is_default=is_default)


def test_sidebar_placeholder_is_removable():
    app_style, frame_style = style(FRAME).split("</style>")[:2]
    assert style(FRAME).count("</style>") == 2
    assert app_style.startswith("<style>")
    assert "/*" not in app_style
    assert ".st-key-grid_box" in app_style
    assert frame_style == f'<style id="frame">{FRAME}'


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", EVERY)
def test_paint_of_page_has_title_lead(name, lang):
    """The title is the page's own; the navigation marks the page that is open."""
    page, t = paint(name, lang), translator(lang)
    title = t("start.headline") if name == "start" else t(f"{name}.title")
    assert f"<h1>{title}</h1>" in page
    lead = re.search(r'<p class="lead">(.*?)</p>', page)[1]
    assert re.sub(r"</?em>", "*", lead).replace("&#x27;", "'") == t(f"{name}.lead")
    assert re.findall(r'aria-current="page">([^<]*)<', page) == [t(f"{name}.title")]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_paint_links_all_pages_and_languages(lang):
    """A link keeps the language, and the first page has its short address."""
    links = re.findall(r'<a href="\./([^?"]*)\?lang=(\w+)"', paint("masks", lang))
    paths = ["" if name == "start" else path_of(name) for names in NAVIGATION.values() for name in names]
    assert links == [*((path, lang) for path in paths), *(("masks", code) for code in LANGUAGES)]
    assert sorted(paths) == sorted({"" if name == "start" else path_of(name) for name in EVERY})


def test_paint_stands_whole_in_streamlits_element():
    """React clears this element before it draws: nothing is left, and no script is added."""
    page = paint()
    before, after = index_page().split(ROOT_ELEMENT)
    assert page.startswith(f'{before}<div id="root"><style>') and page.endswith(f"</nav></div></div>{after}")
    assert page.count("<script") == index_page().count("<script")
    assert "<i>en</i>" in page and "<i>" not in paint(is_default=False)


def test_paint_without_root_changes_nothing():
    """Another version of Streamlit may write it otherwise."""
    assert PAINT.add_to("<body></body>", name="heads", lang="en", is_default=True) == "<body></body>"


def test_paint_escapes_texts(monkeypatch):
    monkeypatch.setattr(first_paint, "translator", lambda lang: lambda key, **values: HOSTILE)
    page = paint()
    assert HOSTILE not in page
    assert f"<h1>{ESCAPED}</h1>" in page and f'<p class="lead">{ESCAPED}</p>' in page
    assert page.count(f">{ESCAPED}</a>") == len(EVERY)


def test_paint_without_font_file_names_another(monkeypatch):
    assert "src: url(./static/media/SourceSansVF-Upright" in paint_style()
    monkeypatch.setattr(first_paint, "index_page", lambda: "<html></html>")
    assert "src: local('Source Sans');" in paint_style.__wrapped__()
