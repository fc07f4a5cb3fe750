"""Figures of caches and trainings: what is drawn is what was given."""

import math

from viz.figures.sharing import cache_growth, learning


def test_cache_growth():
    fig = cache_growth(
        (100, 1000),
        {"<b>a": [10**9, 10**10], "c": [10**8, 10**9]},
        {"24 GB": 24 * 10**9},
        at=500,
        x_title="n",
        y_title="GB",
    )
    assert [trace["y"] for trace in fig["data"]] == [[1.0, 10.0], [0.1, 1.0]]
    assert fig["data"][0]["name"] == "&lt;b&gt;a"
    across, upright = fig["layout"]["shapes"]
    assert (across["y0"], across["y1"]) == (24, 24)
    assert (upright["x0"], upright["x1"]) == (500, 500)
    assert fig["layout"]["annotations"][0]["y"] == math.log10(24)
    assert fig["layout"]["xaxis"]["type"] == fig["layout"]["yaxis"]["type"] == "log"


def test_learning_draws_median_lowest_and_highest():
    fig = learning((5, 10), {"G = 2": [(0.25, 0.5), (0.75, 1.0), (0.5, 0.625)]}, x_title="steps", y_title="y", top=1.0)
    low, high, middle = (trace["y"] for trace in fig["data"])
    assert (low, high, middle) == ([0.25, 0.5], [0.75, 1.0], [0.5, 0.625])
    assert fig["layout"]["yaxis"]["range"] == [0, 1.0]
