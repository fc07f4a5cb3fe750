"""The style that a page has before anything comes."""

from viz.host.first_paint import FRAME, style


def test_the_style_is_the_apps_in_one_element():
    assert style(embedded=False).startswith("<style>")
    assert style(embedded=False).count("</style>") == 1
    assert "/*" not in style(embedded=False)
    assert ".st-key-grid_box" in style(embedded=False)


def test_an_embedded_page_keeps_no_place_for_a_sidebar():
    assert FRAME in style(embedded=False)
    assert FRAME not in style(embedded=True)
