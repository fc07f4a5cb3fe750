"""One of the two suites of tests, and its cost: ``python -m tools.suite fast``, or ``long``; more options are pytest's.

The fast suite runs first what opens no browser, two processes at a time, then its browser cases, which stand in files
that name them ``fast``: nothing else is collected twice, and no process has both a browser and every model in memory.
The long suite runs in a random order. ``build/fast.json`` has the processor seconds and the memory of the last run.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

ROOT = Path(__file__).parent.parent
WORKERS = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
ADOPT_ORPHANS = 36
"""``PR_SET_CHILD_SUBREAPER`` of Linux: a browser's processes outlive the one that started them."""
SECONDS_BETWEEN = 5


def stages(suite: str) -> Iterator[list[str]]:
    """Yield the arguments for each run of pytest."""
    if suite == "long":
        yield [*WORKERS, "-m", "long", "-p", "randomly"]
        return
    yield [*WORKERS, "-m", "not long and not fast"]
    files = sorted(path for path in (ROOT / "tests").rglob("test_*.py") if "mark.fast" in path.read_text("utf-8"))
    yield [*WORKERS, "-m", "fast and not long", *(str(path.relative_to(ROOT)) for path in files)]


def descendants() -> list[int]:
    """The processes below this one."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text("utf-8").rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    below = [os.getpid()]
    for process in below:
        below += [child for child, parent in parents.items() if parent == process]
    return below[1:]


def memory_of(process: int) -> int:
    """Return a process's kilobytes in memory, and its share of those that several have."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


class Peak(Thread):
    """The most memory that the processes below this one have at a time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.kilobytes, self.stop = 0, Event()

    def run(self) -> None:
        while not self.stop.wait(SECONDS_BETWEEN):
            self.kilobytes = max(self.kilobytes, sum(map(memory_of, descendants())))


def count_orphans() -> None:
    """Wait for all adopted processes, so that their seconds are counted; they have ended with those that used them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main() -> int:
    """Run a suite, print and record its cost, and return the first failure of its stages."""
    parser = argparse.ArgumentParser(prog="python -m tools.suite", description=__doc__)
    parser.add_argument("suite", choices=("fast", "long"))
    suite, options = (arguments := parser.parse_known_args())[0].suite, arguments[1]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1)
    began, peak = time.monotonic(), Peak()
    peak.start()
    results = [subprocess.call([sys.executable, "-m", "pytest", *stage, *options], cwd=ROOT) for stage in stages(suite)]
    peak.stop.set()
    count_orphans()
    times = os.times()
    cost = {
        "processor_seconds": round(times.children_user + times.children_system),
        "seconds": round(time.monotonic() - began),
        "peak_gb": round(peak.kilobytes / 1e6, 1),
    }
    # With options of pytest it is another run than the one that has a ceiling.
    if not options:
        (ROOT / "build").mkdir(exist_ok=True)
        (ROOT / "build" / f"{suite}.json").write_text(json.dumps(cost) + "\n", encoding="utf-8")
    sys.stdout.write(f"{suite} suite: {cost}\n")
    return next((result for result in results if result), 0)


if __name__ == "__main__":
    sys.exit(main())
