"""The style that a page has before anything comes."""

from viz.host.first_paint import FRAME, style


def test_the_style_is_the_apps_and_what_keeps_the_sidebars_place_is_in_an_element_that_can_go():
    own, kept = style(embedded=False).split("</style>")[:2]
    assert style(embedded=False).count("</style>") == 2
    assert own.startswith("<style>")
    assert "/*" not in own
    assert ".st-key-grid_box" in own
    assert kept == f'<style id="frame">{FRAME}'


def test_an_embedded_page_keeps_no_place_for_a_sidebar():
    assert FRAME in style(embedded=False)
    assert FRAME not in style(embedded=True)
