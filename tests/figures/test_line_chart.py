"""The line chart: what is said of a chart as a whole. What the browser makes of it: tests/components/client."""

from viz.figures.line_chart import Axis, LineChart, Series
from viz.figures.palette import BLUE

PLAIN = Series(name="a", x=[1], y=[1], colour=BLUE)


def test_legend_for_several_series_or_requested():
    unlisted = Series(name="b", x=[1], y=[1], colour=BLUE, listed=False)

    def has_legend(*series, legend=None):
        return LineChart(series=series, x=Axis("n"), y=Axis("v"), legend=legend).has_legend()

    assert not has_legend(PLAIN)
    assert not has_legend(PLAIN, unlisted)
    assert has_legend(PLAIN, PLAIN)
    assert has_legend(PLAIN, legend=True)
    assert not has_legend(PLAIN, PLAIN, legend=False)
