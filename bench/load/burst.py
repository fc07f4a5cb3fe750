"""Everybody at once, each with a text as long as any model reads: ``python -m bench.load.burst --users 30 --rounds 2``.

In every round all users open every page, one page after the other, with texts that nobody else typed. Then they
leave, and for a minute nobody is there. Prints errors and the server's memory; the exit status says whether the ceiling
held, and whether the server was small again in the end.
"""

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass, field

from bench.load.__main__ import CEILING, server, told_by
from bench.load.tab import Tab
from bench.load.visitor import PATHS, Change, Visitor, judged
from bench.load.watch import Watch, memory_of

AFTER, SMALL = 60.0, 1000.0
"""Seconds after the last user has left, and MB: the goal, with the default model alone in memory."""
PATIENCE = 600.0
"""Seconds that a user of a burst waits for an answer: the last of 30 has 29 before."""


@dataclass
class Burst:
    """The result of a burst."""

    recorded_changes: list[Change] = field(default_factory=list)
    watch: Watch | None = None
    ceiling: float = CEILING
    after: float = 0.0
    """MB, a while after the last user left."""

    def missed_goals(self) -> list[str]:
        """The goals that were not reached."""
        wrong = [change for change in self.recorded_changes if change.error]
        missed_goals = [f"{len(wrong)} errors"] if wrong or not self.recorded_changes else []
        if self.watch and self.watch.most > self.ceiling:
            missed_goals.append(f"{self.watch.most:.0f} MB")
        if self.after >= SMALL + self.ceiling - CEILING:
            missed_goals.append(f"{self.after:.0f} MB afterwards")
        return missed_goals


async def join(burst: Burst, url: str, number: int, seed: int) -> None:
    """One user opens every page with a text as long as any model reads."""
    visitor = Visitor(url, number, seed, burst.recorded_changes.append)
    for path in PATHS:
        async with Tab(url, PATIENCE) as tab:
            try:
                burst.recorded_changes.append(judged("open", path, await tab.open(path, text=visitor.long_text())))
            except (TimeoutError, OSError) as error:
                message = f"{type(error).__name__}: {error}"
                burst.recorded_changes.append(Change("open", PATHS[path], time.monotonic(), PATIENCE, error=message))


async def run(burst: Burst, url: str, pid: int, *, users: int, rounds: int, after: float = AFTER) -> None:
    """All at once, as often as there are rounds; then nobody."""
    burst.watch = Watch(pid)
    watching = asyncio.create_task(burst.watch.follow())
    for seed in range(rounds):
        await asyncio.gather(*(join(burst, url, number, seed) for number in range(users)))
    await asyncio.sleep(after)
    watching.cancel()
    burst.ceiling, burst.after = await asyncio.to_thread(told_by, url, "memory_ceiling"), memory_of(pid)


def main() -> int:
    """Run, report, and say whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m bench.load.burst", description=__doc__)
    parser.add_argument("--users", type=int, default=30, help="1 to 200")
    parser.add_argument("--rounds", type=int, default=2, help="1 to 10")
    options = parser.parse_args()
    if not (1 <= options.users <= 200 and 1 <= options.rounds <= 10):
        parser.error("1 to 200 users, 1 to 10 rounds")
    burst, began = Burst(), time.monotonic()
    with server("", options.users, HEADLIGHT_WAIT="600", HEADLIGHT_SECONDS="600") as (url, pid):
        assert pid is not None
        print(f"{options.users} visitors, {options.rounds} rounds over {len(PATHS)} pages", flush=True)  # noqa: T201
        asyncio.run(run(burst, url, pid, users=options.users, rounds=options.rounds))
    for line in report(burst, time.monotonic() - began):
        print(line)  # noqa: T201
    return 1 if burst.missed_goals() else 0


def report(burst: Burst, seconds: float) -> list[str]:
    """The lines that are printed."""
    watch, missed_goals = burst.watch, burst.missed_goals()
    assert watch is not None
    wrong = [
        f"  {change.kind} on {change.page}: {change.error[:300]}" for change in burst.recorded_changes if change.error
    ][:10]
    n_refused = sum(change.is_refused for change in burst.recorded_changes)
    return [
        f"{len(burst.recorded_changes)} pages in {seconds:.0f} s, {n_refused} asked to come back",
        *wrong,
        "memory of the server: " + ", ".join(f"{size:.0f} MB at {at:.0f} s" for at, size in watch.curve()),
        f"at most {watch.most:.0f} MB of {burst.ceiling:.0f}; {burst.after:.0f} MB {AFTER:.0f} s after they left",
        "every goal reached" if not missed_goals else "MISSED: " + ", ".join(missed_goals),
    ]


if __name__ == "__main__":
    sys.exit(main())
