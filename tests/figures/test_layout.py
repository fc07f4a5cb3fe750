"""The layout of figures."""

from viz.figures.layout import ROOM, axis, base_layout, larger


def test_presented_figure_has_no_small_letters():
    bar = {"type": "bar", "x": [1, 2], "textfont": {"size": 12}}
    axes = {"xaxis": axis("weight"), "yaxis2": {"title": "n"}, "annotations": [{"text": "a", "font": {"size": 14}}]}
    figure = larger({"data": [bar], "layout": base_layout(400, coloraxis={"colorbar": {"thickness": 9}}, **axes)})
    layout = figure["layout"]
    texts = [layout, layout["legend"], layout["annotations"][0]]
    ticks = [layout["xaxis"], layout["yaxis2"], layout["coloraxis"]["colorbar"]]
    assert [text["font"]["size"] for text in texts] == [ROOM, ROOM, 28]
    assert [part["tickfont"]["size"] for part in ticks] == [ROOM] * 3
    assert layout["yaxis2"]["title"] == {"text": "n", "font": {"size": ROOM}}
    assert figure["data"][0]["textfont"]["size"] == ROOM
    assert figure["data"][0]["x"] is bar["x"], "numbers are not copied"
    assert bar["textfont"] == {"size": 12}, "nor is the figure itself changed"
    assert layout["height"] == 500


def test_layouts_share_no_mutable_part():
    first = base_layout(100)
    first["margin"]["t"] = 99
    assert base_layout(100)["margin"]["t"] == 10
