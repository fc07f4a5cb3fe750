"""Lines, points and marks stand where their numbers say."""

import math

from viz.figures.growth import Line, growth


def test_lines_and_points():
    computed = Line(name="<b>", values={1: 2, 10: 20 * 10**30}, style=1, listed=False)
    measured = Line(name="m", values={10: 3.5}, points=True, unit=" ms")
    drawn = growth([computed, measured], size_title="n", value_title="v", marks={5: "$x"})
    first, second = drawn["data"]
    assert (first["mode"], first["x"], first["y"]) == ("lines", [1, 10], [2.0, 2e31])
    assert first["name"] == "&lt;b&gt;"
    assert not first["showlegend"]
    assert (second["mode"], second["x"], second["y"]) == ("markers", [10], [3.5])
    assert " ms" in second["hovertemplate"] and "n = %{x" in second["hovertemplate"]
    assert "h = %{x" in growth([measured], size_title="h", value_title="v", letter="h")["data"][0]["hovertemplate"]
    (mark,), (says,) = drawn["layout"]["shapes"], drawn["layout"]["annotations"]
    assert mark["x0"] == mark["x1"] == 5
    assert says["x"] == math.log10(5), "annotations on a logarithmic axis are placed by the logarithm"
    assert says["text"] == "&#36;x"


def test_axes():
    few, many = (
        growth([Line(name="a", values=dict.fromkeys(sizes, 1.0))], size_title="n", value_title="v")["layout"]["xaxis"]
        for sizes in ((64, 1024), (1, 10**9))
    )
    assert few["tickvals"] == [64, 1024]
    assert many["dtick"] == 1
    share = growth([Line(name="a", values={1: 0.5})], size_title="n", value_title="v", share=True)["layout"]["yaxis"]
    assert share["range"] == [0, 1.02]
    assert "type" not in share
