"""The dialog with the large figure of a picture."""

import base64
import json

import numpy as np
import pytest

from tests.frame.large_figure.test_message import MESSAGE, TABLE
from tests.running import start_app
from viz import limits
from viz.text import LANGUAGES, sentences


def run_figure(message, lang="en"):
    from viz.frame.large_figure.dialog import open_figure
    from viz.text import translator

    open_figure(translator(lang), message)


def test_figure_opens_in_a_dialog():
    app = start_app(run_figure, args=(MESSAGE | {"caption": "**A** <b>"},)).run()
    assert not app.exception
    (chart,) = app.get("plotly_chart")
    (trace,) = json.loads(chart.proto.spec)["data"]
    values = np.frombuffer(base64.b64decode(trace["z"]["bdata"]), "<f4")
    np.testing.assert_array_equal(values, [0, 1, 2, 3])
    assert [text.value for text in app.text] == ["**A** <b>"], "as text, not as Markdown"


TOO_MANY = MESSAGE | {"tables": [TABLE] * (limits.LARGE_TABLES + 1)}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("message", [{"tables": [1]}, TOO_MANY], ids=["no message", "too many tables"])
def test_refused_message_is_answered(message, lang):
    """A picture with too many tables or names comes from the menu like any other: the user is told."""
    app = start_app(run_figure, args=(message, lang)).run()
    assert not app.exception and not app.get("plotly_chart")
    assert [warning.value for warning in app.warning] == [sentences(lang)["figure_menu.refused"]]
