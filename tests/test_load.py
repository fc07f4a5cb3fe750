"""A small class at work on the hosting entry: everybody is answered. bench/load has the large one, and the times."""

import asyncio
import random
from argparse import ArgumentTypeError

import pytest

from bench.load.__main__ import CEILING, Course, percentile, report, run, server
from bench.load.burst import SMALL, Burst
from bench.load.models import MIX, pick_model, shares
from bench.load.tab import Tab
from bench.load.visitor import ACTIONS, Change, Visitor, judged
from bench.load.watch import Watch, memory_of
from tests.coroutines import finish
from viz.models.registry import entries


@pytest.fixture(scope="module")
def running():
    with server("", users=5) as running_server:
        yield running_server


@pytest.fixture(scope="module")
def warm(running) -> int:
    """MB of a server that has shown one page: what torch's own files take of it is a machine's own affair."""
    url, pid = running

    async def visit() -> None:
        async with Tab(url) as tab:
            await tab.open()

    finish(visit())
    return round(memory_of(pid))


@pytest.mark.long
def test_five_users_are_answered(warm, running):
    url, pid = running
    recorded_changes: list[Change] = []
    models = {"twin-g2": 1.0, "twin-g8": 2.0}
    visitors = [
        Visitor(url, number, 0, recorded_changes.append, think=(0.05, 0.1), models=models) for number in range(5)
    ]

    async def stay(visitor: Visitor) -> None:
        """One of every kind, in an order of the user's own; then whatever comes, until the time is over."""
        async with Tab(url) as tab:
            recorded_changes.append(judged("open", "heads", await tab.open()))
            for kind in ("head", "model", *visitor.chance.sample(list(ACTIONS), len(ACTIONS))):
                await visitor.act(tab, kind)

    course = Course(5, 6.0)

    async def together() -> None:
        await asyncio.gather(*map(stay, visitors))
        await run(course, url, pid, models=models)

    finish(together())
    assert {change.model for change in recorded_changes} > set(models), "and the one that the page opened with"
    assert CEILING < course.ceiling < CEILING + 10, "two further models of 1.5 MB are in memory"
    assert [
        change for change in (*recorded_changes, *course.recorded_changes) if change.error or change.is_refused
    ] == []
    assert {change.kind for change in recorded_changes} >= set(ACTIONS) - {"again"} | {"open"}
    assert len(course.recorded_changes) >= 5 and course.watch and course.watch.most > 100


@pytest.mark.long
def test_number_typed_stands_in_the_link(running):
    """A whole number, which a browser sends in another field than a number box declares."""
    url, _ = running

    async def type_one() -> str:
        async with Tab(url) as tab:
            await tab.open("cost", section="growth")
            await tab.change(cost_n=700)
            return tab.query

    assert finish(type_one()) == "section=growth&cost_n=700"


BURST, ROOM = 8, 260
"""Users at once, each of whom needs 70 MB and up to 150 for a moment; MB above a warm server. Without a ceiling they
take 360."""


@pytest.mark.long
def test_burst_of_long_texts_is_queued(monkeypatch, warm):
    """Results are freed at once: no minute of idle time is needed to be small again."""
    ceiling = max(warm + ROOM, 800)
    for name, value in (("MEMORY_MB", ceiling), ("SECONDS", 600), ("WAIT", 600)):
        monkeypatch.setenv(f"HEADLIGHT_{name}", str(value))
    recorded_changes: list[Change] = []

    async def join(url: str, number: int) -> None:
        text = Visitor(url, number, 0, recorded_changes.append).long_text()
        async with Tab(url, patience=300) as tab:
            recorded_changes.append(judged("open", "heads", await tab.open(text=text)))

    async def together(url: str, watch: Watch) -> None:
        watching = asyncio.create_task(watch.follow())
        await asyncio.gather(*(join(url, number) for number in range(BURST)))
        watching.cancel()

    with server("", users=BURST) as (url, pid):
        assert pid is not None
        watch = Watch(pid)
        finish(together(url, watch))
    assert [change for change in recorded_changes if change.error or change.is_refused] == []
    assert len(recorded_changes) == BURST
    assert warm < watch.most <= ceiling, watch.curve()


def test_course_with_faults_misses_goals():
    """A course with an error, a slow answer or a leak misses its goals."""
    fine = [Change("text", "heads", at, 0.2) for at in range(100)]
    assert list(Course(50, 60, fine).missed_goals()) == []
    assert list(Course(50, 60, [*fine, Change("text", "heads", 1, 0.2, error="ValueError")]).missed_goals()) == [
        "1 errors"
    ]
    slow = [*fine, *(Change("text", "heads", 1, 2.0) for _ in range(7))]
    assert list(Course(50, 60, slow).missed_goals()) == ["p95 2.00 s"]
    assert list(Course(200, 60, slow).missed_goals()) == [], "more than 50 visitors may wait"
    flat = [(float(at), 800.0 + 90 * random.Random(at).choice((0, 0, 1))) for at in range(90)]
    leak = [(at, size + at / 4) for at, size in flat]
    assert Watch(0, flat).growth() == 0
    assert list(Course(50, 60, fine, Watch(0, leak)).missed_goals()) == [f"{Watch(0, leak).growth():.1f} MB of growth"]
    assert list(report(Course(50, 60, slow)))[-1] == "MISSED: p95 2.00 s"
    long = [*fine, *(Change("text", "heads", 1, 9.0, long=True) for _ in range(7))]
    assert list(Course(50, 60, long).missed_goals()) == [], "512 tokens take what they take"
    slow_model = [*fine, *(Change("text", "heads", 1, 9.0, model="gpt2") for _ in range(7))]
    assert list(Course(50, 60, slow_model).missed_goals()) == [], "a larger model takes what it takes"
    within, above = (Course(50, 60, fine, Watch(0, [(0.0, mb)])) for mb in (CEILING, CEILING + 1))
    assert f"  the ceiling of {CEILING:.0f} MB held" in report(within)
    assert f"  the ceiling of {CEILING:.0f} MB DID NOT HOLD" in report(above)
    assert list(above.missed_goals()) == [f"{CEILING + 1:.0f} MB"]
    above.ceiling += 540
    assert list(above.missed_goals()) == [], "a model that visitors chose has its own room"


def test_faults_of_burst_reported():
    """A burst reports its faults."""
    fine, wrong = Change("open", "heads", 1, 9.0), Change("open", "heads", 1, 9.0, error="ValueError")
    within = Watch(0, [(0.0, CEILING)])
    assert Burst([fine], within, after=SMALL - 1).missed_goals() == []
    assert Burst([fine, wrong], within, after=SMALL - 1).missed_goals() == ["1 errors"]
    assert Burst([fine], Watch(0, [(0.0, CEILING + 1)]), after=SMALL).missed_goals() == [
        f"{CEILING + 1:.0f} MB",
        f"{SMALL:.0f} MB afterwards",
    ]
    assert Burst([fine], within, ceiling=CEILING + 540, after=SMALL + 500).missed_goals() == [], "with a further model"


def test_shares_of_models_are_checked():
    assert shares("gpt2=0.25, twin-g2=0.75") == {"gpt2": 0.25, "twin-g2": 0.75} and shares("") == {}
    for wrong in ("gpt2", "gpt2=much", "gpt2=-1", "gpt2=nan"):
        with pytest.raises(ArgumentTypeError, match="gpt2"):
            shares(wrong)
    picks = [pick_model(random.Random(n), {"a": 1, "b": 3, "c": 9}, ["a", "b"]) for n in range(400)]
    assert set(picks) == {"a", "b"} and 60 < picks.count("a") < 140
    assert pick_model(random.Random(0), {"a": 1}, ["b"]) == pick_model(random.Random(0), {}, ["b"]) == ""
    assert set(MIX) <= {entry.id for entry in entries()} and sum(MIX.values()) == pytest.approx(1)


def test_percentiles():
    assert [percentile([5, 1, 4, 2, 3], share) for share in (0.01, 0.5, 0.95, 1)] == [1, 3, 5, 5]
    assert percentile(range(1, 101), 0.95) == 95
