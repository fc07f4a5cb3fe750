"""The numbers that may only fall, and the order of imports that leaves the fewest upward."""

from collections import Counter

from tools.size import ROOT, above, fewest_upward, shared_by_pages


def test_above_names_figure_and_raised_ceiling():
    """A number above its ceiling, and a ceiling that rose; a number that is not measured passes."""
    ceilings = {"lines": 10, "words": 7, "calls": 5}
    assert above({"lines": 10, "words": 6}, ceilings, ceilings) == []
    assert above({"lines": 11}, ceilings, ceilings) == ["lines is 11, above 10"]
    assert above({}, ceilings, {"lines": 9, "words": 7, "files": 3}) == ["the ceiling of lines rose from 9"]


def test_fewest_upward_cuts_circles_once():
    """Of a circle the thinnest arrow goes; what is in none costs nothing."""
    arrows = Counter({("a", "b"): 3, ("b", "c"): 2, ("c", "a"): 5, ("c", "d"): 7, ("e", "a"): 1})
    assert fewest_upward([*"abcde"], arrows) == 2
    assert fewest_upward([*"abd"], arrows) == 0


def test_pages_reach_no_reader_of_files():
    """Half of what a page loaded were readers that only opening a model, or drawing a check, has need of."""
    readers = ("viz/models/folders", "viz/models/packaged", "viz/models/recount", "viz/models/load.py")
    shared = [path.relative_to(ROOT).as_posix() for path in shared_by_pages()]
    assert "viz/models/capture.py" in shared and not [path for path in shared if path.startswith(readers)]
