"""What is laid over a matrix: where it lies, and that a hostile token stays text."""

import torch

from viz.figures.marks import clickable, few_ticks, frame_cell, frame_row, named_cells, no_gaps
from viz.figures.matrix import matrix

ROWS, COLUMNS = [f"r{i}" for i in range(3)], [f"c{i}" for i in range(17)]


def figure(rows=ROWS, columns=COLUMNS):
    values = torch.arange(float(len(rows) * len(columns))).view(len(rows), len(columns))
    return matrix(values, rows, columns, kind="signed", row_title="q", column_title="k")


def test_a_frame_is_around_its_cell_and_its_row():
    row, cell = frame_cell(figure(), 1, 12)["layout"]["shapes"]
    assert (cell["x0"], cell["x1"], cell["y0"], cell["y1"]) == (11.5, 12.5, 0.5, 1.5)
    assert (row["x0"], row["x1"], row["y0"], row["y1"]) == (-0.5, 16.5, 0.5, 1.5)


def test_every_cell_has_a_point_of_its_own_with_its_sentence():
    hover = [[f"{row} asks {column}" for column in COLUMNS] for row in ROWS]
    fig = clickable(figure(), hover)
    heat, points = fig["data"]
    assert heat["type"] == "heatmap"
    found = {(y, x): said for x, y, said in zip(points["x"], points["y"], points["customdata"], strict=True)}
    assert len(found) == 3 * 17
    assert found[2, 11] == "r2 asks c11"
    # The points must not widen the axes, nor turn the first row down.
    assert fig["layout"]["xaxis"]["range"] == [-0.5, 16.5]
    assert fig["layout"]["yaxis"]["range"] == [2.5, -0.5]


def test_the_points_are_never_seen_chosen_or_not():
    points = clickable(figure(), [["" for _ in COLUMNS] for _ in ROWS])["data"][1]
    assert {points[state]["marker"]["opacity"] for state in ("selected", "unselected")} == {0}
    assert points["marker"]["opacity"] == 0


def test_a_hostile_sentence_is_text():
    points = clickable(figure(["a"], ["b"]), [["<b>x</b> #000001 $y$"]])["data"][1]
    assert points["customdata"] == ["&lt;b&gt;x&lt;/b&gt; &#35;000001 &#36;y&#36;"]


def test_a_few_columns_are_named_and_keep_their_places():
    axis = few_ticks(figure(), 8)["layout"]["xaxis"]
    assert axis["tickvals"] == [0, 3, 6, 9, 12, 15]
    assert axis["ticktext"] == ["c0", "c3", "c6", "c9", "c12", "c15"]
    assert few_ticks(figure(), 17)["layout"]["xaxis"]["ticktext"] == COLUMNS


def test_no_gaps():
    heat = no_gaps(figure())["data"][0]
    assert (heat["xgap"], heat["ygap"]) == (0, 0)


def test_marks_leave_the_figure_they_are_given_alone():
    fig = figure()
    before = repr(fig)
    points = clickable(fig, [["" for _ in COLUMNS] for _ in ROWS])
    no_gaps(few_ticks(named_cells(frame_row(frame_cell(points, 0, 0), 1)), 3))
    assert repr(fig) == before
