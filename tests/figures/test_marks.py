"""What is laid over a matrix: where it lies, and that a hostile token stays text."""

from viz.figures.marks import cell_frame, points_to_click, row_frame


def test_a_frame_is_around_its_cell_and_its_row():
    row, cell = row_frame(1, n_columns=17), cell_frame(1, 12)
    assert (cell["x0"], cell["x1"], cell["y0"], cell["y1"]) == (11.5, 12.5, 0.5, 1.5)
    assert (row["x0"], row["x1"], row["y0"], row["y1"]) == (-0.5, 16.5, 0.5, 1.5)


def test_every_cell_has_a_point_of_its_own_with_its_sentence():
    points = points_to_click([[f"r{i} asks c{j}" for j in range(17)] for i in range(3)])
    found = {(y, x): said for x, y, said in zip(points["x"], points["y"], points["customdata"], strict=True)}
    assert len(found) == 3 * 17
    assert found[2, 11] == "r2 asks c11"


def test_the_points_are_never_seen_chosen_or_not():
    points = points_to_click([["", ""]])
    assert {points[state]["marker"]["opacity"] for state in ("selected", "unselected")} == {0}
    assert points["marker"]["opacity"] == 0


def test_a_hostile_sentence_is_text():
    points = points_to_click([["<b>x</b> #000001 $y$"]])
    assert points["customdata"] == ["&lt;b&gt;x&lt;/b&gt; &#35;000001 &#36;y&#36;"]
