"""The colours: what is written on a coloured cell, or beside it, can be read in both themes."""

import re

import pytest

from tests.contrast import ENOUGH, THEMES, contrast, over
from viz.figures.palette import PRINTED, scores_scale, weights_scale


def cells(scale):
    """The colours of a scale, with their opacity."""
    for _, written in scale:
        *hue, opacity = map(float, re.findall(r"[\d.]+", written))
        yield tuple(hue), opacity


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scale", [weights_scale, scores_scale])
def test_numbers_printed_into_cells_can_be_read(theme, scale):
    page = THEMES[theme]
    worst = min(contrast(page.ink, over(hue, opacity, page.background)) for hue, opacity in cells(scale(PRINTED)))
    assert worst >= ENOUGH
    assert min(contrast(page.ink, over(hue, opacity, page.background)) for hue, opacity in cells(scale())) < ENOUGH


@pytest.mark.parametrize("theme", THEMES.values())
def test_what_is_written_on_the_page_itself_can_be_read(theme):
    assert contrast(theme.ink, theme.background) >= ENOUGH


def test_contrast_of_known_colours():
    """Black on white, and the grey of which WCAG's readers know that it is just enough on white: #767676."""
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.005)
