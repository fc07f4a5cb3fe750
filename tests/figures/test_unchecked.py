import json

import numpy as np
import pytest
from plotly.io import to_json
from plotly.tools import return_figure_from_figure_or_data as what_streamlit_sends

from viz.figures.layout import axis, base_layout
from viz.figures.unchecked import unchecked

LINE = {"type": "scatter", "mode": "lines", "x": [1, 2], "y": np.array([0.25, 0.5]), "line": {"dash": "dot"}}
FIG = {"data": [LINE], "layout": base_layout(280, xaxis=axis("keys"), yaxis=axis("weight"))}


def test_the_browser_is_sent_the_same_as_if_every_property_had_been_checked():
    sent, checked = (
        to_json(what_streamlit_sends(fig, validate_figure=True), validate=False) for fig in (unchecked(FIG), FIG)
    )
    assert json.loads(sent) == json.loads(checked)


def test_a_property_that_is_wrong_is_found_where_figures_are_checked():
    wrong = {**FIG, "layout": {"height": "tall"}}
    with pytest.raises(ValueError, match="height"):
        what_streamlit_sends(wrong, validate_figure=True)
    unchecked(wrong)
