"""The arithmetic of deploy/README.md, and the agreement of the tables there."""

import pytest

from bench.load.capacity import BLOCK, README, block, need, work


def test_by_hand():
    """A change every 20 s, 0.09 s of work: 500 a second, 45 cores, 75 replicas at 60 %, one to spare."""
    result = need(10_000, 20, 0.09, sockets=600)
    assert (result.changes, result.cores, result.replicas, result.memory) == (500, pytest.approx(45), 76, 228)
    assert work({"cores": 0.5, "seconds": 60, "changes": 300}) == pytest.approx(0.1)


def test_readers_need_memory_too():
    """Users who only read need memory, too."""
    assert need(10_000, 1e9, 0.09, sockets=600).replicas == 17 + 1


@pytest.mark.parametrize("visitors", [1, 7, 600, 601, 9_999])
def test_one_replica_is_spare(visitors):
    """One replica is always spare, never two."""
    for pause, work_per_change in ((4, 0.159), (20, 0.03), (3600, 0.1)):
        result = need(visitors, pause, work_per_change)
        fits = [n for n in range(1, result.replicas + 1) if n * 0.6 >= result.cores - 1e-9 and n * 600 >= visitors]
        assert fits[0] == result.replicas - 1


def test_the_readme_has_the_tables():
    result = BLOCK.search(README.read_text("utf8"))
    assert result and result[0] == block(), "python -m bench.load.capacity"
