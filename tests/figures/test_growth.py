"""Lines, points and marks stand where their numbers say."""

from viz.figures.growth import Line, growth, learning


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


def test_learning_draws_median_lowest_and_highest():
    runs = {"G = 2": [(0.25, 0.5), (0.75, 1.0), (0.5, 0.625)]}
    figure = learning((5, 10), runs, x_title="steps", y_title="y", top=1.0)
    (line,) = figure.series
    assert (line.name, line.x) == ("G = 2", [5, 10])
    assert (line.low, line.high, line.y) == ([0.25, 0.5], [0.75, 1.0], [0.5, 0.625])
    assert (figure.x.title, figure.y.title, figure.y.limits) == ("steps", "y", (0, 1.0))
    assert not figure.has_legend() and not figure.y.log
    fitted = learning((5, 10), runs | {"G = 1": [(0.5, 0.25)]}, x_title="steps", y_title="y")
    assert fitted.y.from_zero and fitted.y.limits is None and fitted.has_legend()
    assert len({(line.colour, line.dash) for line in fitted.series}) == 2
