"""Lines, points and marks stand where their numbers say."""

from viz.figures.growth import Line, growth


def test_points_match_their_line():
    """A point and its line look alike, and unlike all others."""
    line, points, other_line = growth(
        [
            Line(name="computed", values={1: 2}, style=1),
            Line(name="measured", values={1: 2}, style=1, points=True),
            Line(name="other", values={1: 3}, style=2, points=True),
        ],
        size_title="n",
        value_title="v",
    ).series
    assert line.colour == points.colour != other_line.colour
    assert line.symbol == points.symbol != other_line.symbol


def test_styles_are_distinct():
    """Every style has its own hue, dash and symbol."""
    lines = [Line(name="a", values={1: 2}, style=style) for style in range(7)]
    *styled, again = growth(lines, size_title="n", value_title="v").series
    for looks in zip(*((line.colour, line.dash, line.symbol) for line in styled), strict=True):
        assert len(set(looks)) == 6
    assert (again.colour, again.dash, again.symbol) == (styled[0].colour, styled[0].dash, styled[0].symbol)


def test_axes():
    few, many = (
        growth([Line(name="a", values=dict.fromkeys(sizes, 1.0))], size_title="n", value_title="v")
        for sizes in ((64, 1024), (1, 10**9))
    )
    assert few.x.log and few.y.log
    assert few.x.ticks == [64, 1024], "powers of ten would be two at most"
    assert many.x.ticks is None
    assert (few.x.title, few.y.title, few.height, few.has_legend()) == ("n", "v", 380, True)
    share = growth([Line(name="a", values={1: 0.5})], size_title="n", value_title="v", share=True).y
    assert share.limits == (0, 1.02) and not share.log
