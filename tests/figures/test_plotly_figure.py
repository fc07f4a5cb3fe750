"""Figures of plotly's: imported late, behind pandas, and checked."""

import subprocess
import sys

import pytest

from viz import ROOT
from viz.figures import plotly_figure as module

ORDER = """
import sys

names = []

class Note:
    def find_spec(self, name, path=None, target=None):
        names.append(name)

sys.meta_path.insert(0, Note())
import viz.figures.head_points, viz.figures.heat_map, viz.figures.lesson
assert not {"plotly", "pandas"} & set(sys.modules)
viz.figures.heat_map.heat_map([[1.0]], ["a"], ["b"])
assert names.index("pandas") < names.index("plotly")
assert "pandas" in sys.modules
"""


@pytest.mark.long
def test_plotly_is_imported_last():
    """A module of figures imports none of it, and a figure pandas first."""
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ORDER], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr


def test_plotly_missing_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ImportError, match="pip install plotly"):
        module.plotly_figure([], {})


def test_plotly_figure_wrong_property_raises():
    with pytest.raises(ValueError, match="height"):
        module.plotly_figure([], {"height": "tall"})
