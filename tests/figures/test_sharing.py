"""Figures of caches and trainings have the given values."""

from viz.figures.sharing import cache_growth, learning


def test_cache_growth():
    figure = cache_growth(
        (100, 1000),
        {"<b>a": [10**9, 10**10], "c": [10**8, 10**9]},
        {"24 GiB": 24 * 2**30},
        at=500,
        x_title="n",
        y_title="cache",
    )
    assert [line.y for line in figure.series] == [[1e9, 1e10], [1e8, 1e9]]
    assert [line.name for line in figure.series] == ["<b>a", "c"]
    assert [(mark.x, mark.y, mark.label) for mark in figure.marks] == [(None, 24 * 2**30, "24 GiB"), (500, None, "")]
    assert [line.x for line in figure.series] == [[100, 1000]] * 2
    assert figure.x.log and figure.y.log and figure.has_legend()
    assert (figure.x.title, figure.y.title) == ("n", "cache")
    a, c = figure.series
    assert a.colour != c.colour and a.dash != c.dash
    assert figure.y.in_bytes and not figure.x.in_bytes


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
