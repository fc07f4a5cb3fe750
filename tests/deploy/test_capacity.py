"""The arithmetic of deploy/README.md, and the agreement of the tables there."""

import pytest

from bench.load.capacity import BLOCK, README, block, need, work


def test_by_hand():
    """A change every 20 s, 0.09 s of work: 500 a second, 45 cores, 75 replicas at 60 %, one to spare."""
    result = need(10_000, 20, 0.09, sockets=600)
    assert (result.changes, result.cores, result.replicas, result.memory) == (500, pytest.approx(45), 76, 228)
    assert work({"cores": 0.5, "seconds": 60, "changes": 300}) == pytest.approx(0.1)


def test_the_readme_has_the_tables():
    result = BLOCK.search(README.read_text("utf8"))
    assert result and result[0] == block(), "python -m bench.load.capacity"
