"""Contrast of text beside coloured cells in both themes; for text in them, see ``client/lib/contrast.js``."""

import re
from itertools import pairwise

import pytest

from tests.colour_blindness import VISIONS, closest, oklab
from tests.contrast import ENOUGH, THEMES, contrast, lightness, over
from viz.figures.palette import BLUE, GREY, HEADS, ORANGE, weights_scale


@pytest.mark.parametrize("theme", THEMES.values())
def test_page_text_is_readable(theme):
    """Text written on the page itself has enough contrast."""
    assert contrast(theme.ink, theme.background) >= ENOUGH


def test_contrast_of_known_colours():
    """Black on white, and the grey of which WCAG's readers know that it is just enough on white: #767676."""
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.005)


WHITE = (255, 255, 255)


def test_lightness_of_known_colours():
    """White, black, and sRGB's pure green, of which tables say 87.73."""
    assert [lightness(colour) for colour in (WHITE, (0, 0, 0), (0, 255, 0))] == pytest.approx([100, 0, 87.73], abs=0.01)


def test_grey_print_darkens_with_weight():
    """Printed in black and white, more weight is darker."""
    steps = []
    for share, colour in weights_scale():
        *hue, opacity = map(float, re.findall(r"[\d.]+", str(colour)))
        steps.append((share, lightness(over(tuple(hue), opacity, WHITE))))
    assert steps[0][1] == pytest.approx(100)
    assert all(after < before for (_, before), (_, after) in pairwise(steps))
    assert steps[-1][1] < 60, "the scale uses enough of what paper has"


@pytest.mark.parametrize("hue", [BLUE, ORANGE, *HEADS])
def test_grey_print_darkens_with_hue(hue):
    """Printed in black and white, more of any hue is darker."""
    greys = [lightness(over(hue, step / 16, WHITE)) for step in range(17)]
    assert all(after < before for before, after in pairwise(greys))


TOGETHER = {
    "signs and the rest": ((BLUE, ORANGE, GREY), 0.09),
    "two models compared": ((GREY, HEADS[2]), 0.06),
    "four series": ((BLUE, ORANGE, *HEADS[2:4]), 0.075),
    "four heads and the rest": ((*HEADS[:4], GREY), 0.06),
    "eight heads": (HEADS[:8], 0.055),
    "all heads and the rest": ((*HEADS, GREY), 0.04),
}
"""Colours that tell things apart beside each other, and how far apart they are at least: twice what can be seen."""


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("colours", "least"), TOGETHER.values(), ids=TOGETHER)
def test_colours_stay_apart_without_a_cone(colours, least, vision):
    """At full strength they are the same in light and dark."""
    assert closest(colours, vision) >= least


OWNED = 0.45
"""The strength of a head's colour below a number: ``OWNED`` of ``client/plot/matrix.js``."""


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_pale_colours_stay_apart(theme, vision):
    """Four heads below numbers, over both pages."""
    assert closest([over(hue, OWNED, theme.background) for hue in HEADS[:4]], vision) >= 0.035


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_lines_can_be_seen(theme):
    """WCAG 2.2, 1.4.11: 3 : 1 for what tells things apart; beyond ten heads a little less."""
    contrasts = [contrast(hue, theme.background) for hue in HEADS]
    assert min(contrasts[:10]) >= 3 and min(contrasts) >= 2.7


def test_oklab_of_known_colours():
    """White and red of Ottosson's own table; to eyes without long cones red is dark."""
    assert oklab((255, 255, 255)) == pytest.approx([1, 0, 0], abs=1e-3)
    assert oklab((255, 0, 0)) == pytest.approx([0.628, 0.225, 0.126], abs=1e-3)
    assert oklab((255, 0, 0), "protanopia")[0] < oklab((255, 0, 0))[0] - 0.1
