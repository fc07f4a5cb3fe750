"""The colours: what is written beside coloured cells can be read in both themes; in them, see ``client/lib/ink.js``."""

import pytest

from tests.contrast import ENOUGH, THEMES, contrast


@pytest.mark.parametrize("theme", THEMES.values())
def test_what_is_written_on_the_page_itself_can_be_read(theme):
    assert contrast(theme.ink, theme.background) >= ENOUGH


def test_contrast_of_known_colours():
    """Black on white, and the grey of which WCAG's readers know that it is just enough on white: #767676."""
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.005)
