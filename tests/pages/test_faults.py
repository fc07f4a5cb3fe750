"""Mistakes put into the core on purpose: a live check of every section that shows what they change turns red.

Tables in ``faults/``: the function, what it does instead, and the places (sections, opened by a link) that must notice.
The page of costs has a table of its own, ``tests/pages/cost/test_faults.py``; its mixes of layers stand here, as they
need several links.
"""

import pytest

from pages import PAGES
from tests.pages.faults import attention, cost, experiments, layers, maps, positions, today
from tests.pages.faults.fault import Fault, failure_to_notice, open_correct
from tests.pages.faults.places import PLACES
from tests.sections import views_of

TABLES = (attention.FAULTS, cost.FAULTS, experiments.FAULTS, layers.FAULTS, maps.FAULTS, positions.FAULTS, today.FAULTS)
FAULTS: dict[str, Fault] = {name: fault for table in TABLES for name, fault in table.items()}
assert len(FAULTS) == sum(map(len, TABLES)), "a name stands for one mistake"

WITHOUT = {
    "cost": "a table of its own",
    "convolution/training": "a training is kept in the session; the page's own tests put a mistake in before it begins",
}
"""Sections that no fault above is put into, and why."""


def test_every_section_stands_in_the_table():
    """A new section needs a mistake that its checks notice; a name that is misspelt would never be tried."""
    assert {place for fault in FAULTS.values() for place in fault.places} == PLACES.keys()
    open_view = {link.partition("?")[0] for link in PLACES.values()}
    missing = {f"{page}/{view}" for page in PAGES if page not in WITHOUT for view in views_of(page)} - open_view
    assert missing == {name for name in WITHOUT if "/" in name}


LONG = (
    "vision, its training", "swap", "heads at their mean", "layer by layer", "heads off", "atlas, own lines",
    "long map, a model", "who wrote it, one word", "rollout, a model", "diagram, a model", "latent vector, a model",
    "experts, logic", "mix with MLA", "mix with windows", "mix with states", "over depth, a model",
)  # fmt: skip
"""Places of the long suite: a training, several passes of a model for each mistake, or a section's second place."""


@pytest.mark.parametrize(
    "place", [pytest.param(place, marks=pytest.mark.long if place in LONG else ()) for place in PLACES]
)
def test_a_mistake_turns_a_check_red(open_app, place):
    app, section = open_correct(open_app, PLACES[place])
    faults = {name: fault for name, fault in FAULTS.items() if place in fault.places}
    results = {name: failure_to_notice(app, section, fault) for name, fault in faults.items()}
    assert not {name: result for name, result in results.items() if result}
