"""The colours: what is written beside coloured cells can be read in both themes; in them, see ``client/lib/ink.js``."""

import re
from itertools import pairwise

import pytest

from tests.contrast import ENOUGH, THEMES, contrast, lightness, over
from viz.figures.palette import BLUE, HEADS, ORANGE, weights_scale


@pytest.mark.parametrize("theme", THEMES.values())
def test_what_is_written_on_the_page_itself_can_be_read(theme):
    assert contrast(theme.ink, theme.background) >= ENOUGH


def test_contrast_of_known_colours():
    """Black on white, and the grey of which WCAG's readers know that it is just enough on white: #767676."""
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.005)


WHITE = (255, 255, 255)


def test_lightness_of_known_colours():
    """White, black, and sRGB's pure green, of which tables say 87.73."""
    assert [lightness(colour) for colour in (WHITE, (0, 0, 0), (0, 255, 0))] == pytest.approx([100, 0, 87.73], abs=0.01)


def test_printed_in_black_and_white_more_weight_is_darker():
    steps = []
    for share, colour in weights_scale():
        *hue, opacity = map(float, re.findall(r"[\d.]+", str(colour)))
        steps.append((share, lightness(over(tuple(hue), opacity, WHITE))))
    assert steps[0][1] == pytest.approx(100)
    assert all(after < before for (_, before), (_, after) in pairwise(steps))
    assert steps[-1][1] < 60, "the scale uses enough of what paper has"


@pytest.mark.parametrize("hue", [BLUE, ORANGE, *HEADS])
def test_printed_in_black_and_white_more_of_any_hue_is_darker(hue):
    found = [lightness(over(hue, step / 16, WHITE)) for step in range(17)]
    assert all(after < before for before, after in pairwise(found))
