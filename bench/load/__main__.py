"""A class at work: ``python -m bench.load --users 50 --minutes 3``. Real sessions over real sockets, on this machine.

Users choose among the models that the server offers, in the shares of ``--models``. Starts the hosting entry
(serve.py) on a free port, unless ``--url`` names a server that runs. Prints how long answers took from a change to the
end of the script, errors, and the server's memory; the exit status says whether the goals were met.
"""

import argparse
import asyncio
import platform
import secrets
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from math import ceil
from pathlib import Path
from urllib.parse import urlparse

from bench.load.models import MIX, shares
from bench.load.visitor import LONG, Change, Visitor
from bench.load.watch import Watch
from tests import SAFETY_NET
from tests.browser.drive import PATIENCE, ROOT, serve
from tests.deploy.files import image_environment
from viz import limits

ARRIVE = 30.0
"""Seconds over which a class opens the link, or a third of the whole time if that is less."""
P95, CEILING, GROWTH = 1.0, limits.MEMORY_BYTES / 1e6, 5.0
"""The goals: seconds (of up to 50 users, on texts that are not long, of the model that the page opens with), MB with
that model alone, MB."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed; NaN of none."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)] if values else float("nan")


@dataclass
class Course:
    """The result of a course: every change of every user, and the server's memory."""

    users: int
    seconds: float
    recorded_changes: list[Change] = field(default_factory=list)
    watch: Watch | None = None
    ceiling: float = CEILING
    """MB that the server may take with the models it has in memory at the end, by its own account."""

    @property
    def errors(self) -> list[Change]:
        """Changes that went wrong."""
        return [change for change in self.recorded_changes if change.error]

    def missed_goals(self) -> Iterator[str]:
        """The goals that were not reached."""
        times = [
            change.seconds
            for change in self.recorded_changes
            if not change.long and change.model in ("", *list(MIX)[:1])
        ]
        if self.errors or not times:
            yield f"{len(self.errors)} errors"
        if self.users <= 50 and not percentile(times, 0.95) < P95:
            yield f"p95 {percentile(times, 0.95):.2f} s"
        if self.watch and self.watch.most > self.ceiling:
            yield f"{self.watch.most:.0f} MB"
        if self.watch and self.watch.growth() >= GROWTH:
            yield f"{self.watch.growth():.1f} MB of growth"


def table(recorded_changes: Iterable[Change], by: Callable[[Change], str]) -> Iterator[str]:
    """A line for each group of changes: how many, and how long they took."""
    groups: dict[str, list[Change]] = {"all": []}
    for change in recorded_changes:
        groups["all"].append(change)
        groups.setdefault(by(change), []).append(change)
    for name, ones in sorted(groups.items()):
        p50, p95, p99 = (1000 * percentile([change.seconds for change in ones], share) for share in (0.5, 0.95, 0.99))
        sizes = percentile([change.bytes for change in ones], 0.5) / 1000
        wrong = f"  {sum(bool(change.error) for change in ones)} errors" * any(change.error for change in ones)
        later = f"  {sum(change.is_refused for change in ones)} asked to come back" * any(
            change.is_refused for change in ones
        )
        yield f"  {name:<22} {len(ones):6}   {p50:6.0f} {p95:6.0f} {p99:6.0f} ms   {sizes:6.0f} kB{wrong}{later}"


def report(course: Course) -> Iterator[str]:
    """The lines that are printed."""
    yield f"{len(course.recorded_changes) / course.seconds:.1f} changes a second"
    yield f"{'':<24} {'n':>6}   {'p50':>6} {'p95':>6} {'p99':>6}         p50"
    yield from table(course.recorded_changes, lambda change: change.kind)
    yield "by page"
    yield from table(course.recorded_changes, lambda change: change.page)
    yield "by the length of the text"
    yield from table(course.recorded_changes, lambda change: "long" if change.long else "short")
    if len({change.model for change in course.recorded_changes if change.model}) > 1:
        yield "by model, where a page has one to choose"
        yield from table((change for change in course.recorded_changes if change.model), lambda change: change.model)
    for change in course.errors[:10]:
        yield f"  {change.kind} on {change.page}: {change.error[:300]}"
        yield f"    ?{change.link}"
    if watch := course.watch:
        yield "memory of the server: " + ", ".join(f"{size:.0f} MB at {at:.0f} s" for at, size in watch.curve())
        yield f"  at most {watch.most:.0f} MB; {watch.growth():+.1f} MB over the last two thirds"
        more = f", {course.ceiling - CEILING:.0f} of them for further models," if course.ceiling > CEILING else ""
        verdict = "held" if watch.most <= course.ceiling else "DID NOT HOLD"
        yield f"  the ceiling of {course.ceiling:.0f} MB{more} {verdict}"
        yield f"processor time of the server: {watch.work / course.seconds:.2f} cores"
    missed_goals = list(course.missed_goals())
    yield "every goal reached" if not missed_goals else "MISSED: " + ", ".join(missed_goals)


TOKEN = secrets.token_urlsafe()
"""Opens the metrics of a server of our own."""


def told_by(url: str, gauge: str) -> float:
    """MB that a server of our own tells by one of its metrics, e.g. "memory_ceiling": what it may take now."""
    request = urllib.request.Request(f"{url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=SAFETY_NET) as answer:
        metrics = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#"))
    return float(metrics[f"headlight_{gauge}_bytes"]) / 1e6


async def run(
    course: Course,
    url: str,
    pid: int | None,
    *,
    seed: int = 0,
    long: float = LONG,
    models: Mapping[str, float] | None = None,
) -> None:
    """Let a class visit, and note what happens."""
    course.watch = Watch(pid) if pid else None
    watching = asyncio.create_task(course.watch.follow()) if course.watch else None
    arrive = min(ARRIVE, course.seconds / 3)

    async def stay(number: int) -> None:
        late = arrive * number / course.users
        await asyncio.sleep(late)
        visitor = Visitor(url, number, seed, course.recorded_changes.append, long=long, models=models or {})
        await visitor.stay(course.seconds - late)

    await asyncio.gather(*(stay(number) for number in range(course.users)))
    if watching:
        watching.cancel()
        course.ceiling = await asyncio.to_thread(told_by, url, "memory_ceiling")


def wait_until_ready(url: str) -> None:
    """Wait as a load balancer does, until the server is warm."""
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(f"{url}/readyz", timeout=SAFETY_NET):
            return
        time.sleep(0.2)
    raise RuntimeError("the server was not ready in time")


@contextmanager
def server(url: str, users: int, wrong: list[str] | None = None, **settings: str) -> Iterator[tuple[str, int | None]]:
    """A server to visit: the one that is named, or one of our own; its tracebacks are printed and noted."""
    if url:
        yield url, None
        return
    with tempfile.TemporaryDirectory() as folder:
        # All of a class comes from one address here.
        room = {"HEADLIGHT_SOCKETS_PER_ADDRESS": str(2 * users + 10), "HEADLIGHT_METRICS_TOKEN": TOKEN}
        room |= {name: value for name, value in image_environment().items() if name.startswith(("MALLOC_", "GLIBC_"))}
        with serve(ROOT / "serve.py", Path(folder) / "log.txt", **room | settings) as running_server:
            try:
                wait_until_ready(running_server.url)
                yield running_server.url, running_server.pid
            finally:
                log = running_server.read_log()
                for line in sorted({line for line in log.splitlines() if "a computation failed" in line}):
                    print(line)  # noqa: T201
                if "Traceback" in log:
                    print(log[-4000:])  # noqa: T201
                    if wrong is not None:
                        wrong.append("a traceback in the server's log")


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("--users", type=int, default=50, help="1 to 200")
    parser.add_argument("--minutes", type=float, default=3.0, help="up to 30")
    parser.add_argument("--seed", type=int, default=0, help="of all that visitors do")
    parser.add_argument("--long", type=float, default=LONG, help="of the texts typed, how many have 512 tokens")
    parser.add_argument(
        "--models", type=shares, default=MIX, metavar="MODEL=SHARE,...",
        help="how many choose which model; '' for the one that pages open with. By default "
        + ",".join(f"{model}={share:g}" for model, share in MIX.items()),
    )  # fmt: skip
    parser.add_argument("--url", default="", help="a server on this machine that runs already")
    options = parser.parse_args()
    if not (1 <= options.users <= 200 and 0 < options.minutes <= 30):
        parser.error("1 to 200 users, up to 30 minutes")
    if options.url and urlparse(options.url).hostname not in ("127.0.0.1", "localhost", "::1"):
        parser.error("only a server on this machine may be put under load")
    return options


def main() -> int:
    """Run, report, and say whether the goals were met."""
    arguments = _parse_arguments()
    course = Course(arguments.users, arguments.minutes * 60)
    load = " ".join(Path("/proc/loadavg").read_text().split()[:3])
    versions = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "torch"))
    print(f"{time.strftime('%Y-%m-%d %H:%M')}  {platform.processor() or platform.machine()}  load {load}  {versions}")  # noqa: T201
    print(f"{arguments.users} visitors, {course.seconds:.0f} s", flush=True)  # noqa: T201
    began = time.process_time()
    with server(arguments.url, arguments.users) as (url, pid):
        options = {"seed": arguments.seed, "long": arguments.long, "models": arguments.models}
        asyncio.run(run(course, url, pid, **options))
        for line in report(course):
            print(line)  # noqa: T201
    print(f"this command itself: {(time.process_time() - began) / course.seconds:.2f} cores")  # noqa: T201
    return 1 if list(course.missed_goals()) else 0


if __name__ == "__main__":
    sys.exit(main())
