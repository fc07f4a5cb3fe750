"""One of the two suites of tests, and its cost: ``python -m tools.suite fast``, or ``long``; more options are pytest's.

The fast suite goes in three lanes at the same time: the pages, and what is shown around them; the numbers of the core
and the models, and then the rest of the app; and the server and one browser case of each kind, which wait much. Each
run collects its own files alone.
The long suite runs in a random order, and after it the tests of numbers with torch's sums in another one.
``build/fast.json`` has the processor seconds and the memory of the last run.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Thread
from typing import IO

ROOT = Path(__file__).parent.parent
WORKERS = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
SERVER = ("tests/host", "tests/deploy", "tests/test_hostile", "tests/test_load.py", "tests/browser/test_hosted.py")
"""The beginnings of the paths of the server's tests."""
UNIT = (
    "viz/core",
    "viz/lessons",
    "tests/core",
    "tests/lessons",
    "tests/figures",
    "tests/components",
    "tests/scheduler",
    "tests/test_conftest.py",
)
"""The beginnings of the paths of tests without Streamlit and without a model."""
MODELS = ("viz/models", "tests/models", "tests/tools", "tests/notebook", "tests/pages/start/test_sentences.py")
"""The same of tests with models, and without Streamlit."""
PAGES = ("pages", "tests/pages", "tests/modes", "tests/params", "tests/shown")
"""The same of tests of pages, and of what stands around them."""
WITHOUT_SHAPES = "--jaxtyping-packages="
"""Tests of numbers check the shapes of the core; others run it as a user does, and do not write the checks either."""
ADOPT_ORPHANS = 36
"""``PR_SET_CHILD_SUBREAPER`` of Linux: a browser's processes outlive the one that started them."""
SECONDS_BETWEEN = 5


def lanes(suite: str) -> list[list[list[str]]]:
    """Return the lanes of a suite: runs of pytest, each as its arguments, that go on one after the other."""
    if suite == "long":
        numbers = [*WORKERS, "-m", "unit or models", "-p", "tests.other_order"]
        return [[[*WORKERS, "-m", "long", "-p", "randomly"], numbers]]
    servers, numbers, pages = files(SERVER), files((*UNIT, *MODELS)), files(PAGES)
    rest = [f"--ignore={path}" for path in (*servers, *numbers, *pages)]
    browser = sorted(path for path in (ROOT / "tests").rglob("test_*.py") if "mark.fast" in path.read_text("utf-8"))
    return [
        [["-m", "app and not long", WITHOUT_SHAPES, *pages]],
        [
            ["-q", "-m", "(unit or models) and not long", *numbers],
            ["-q", "-m", "app and not long", WITHOUT_SHAPES, *rest],
        ],
        [
            ["-q", "-m", "server and not long", WITHOUT_SHAPES, *servers],
            ["-q", "-m", "browser and not long", WITHOUT_SHAPES, *(str(path.relative_to(ROOT)) for path in browser)],
        ],
    ]


def files(beginnings: Iterable[str]) -> list[str]:
    """Return the files and folders whose paths begin so."""
    return [str(path.relative_to(ROOT)) for begin in beginnings for path in sorted(ROOT.glob(f"{begin}*"))]


def run(lane: list[list[str]], options: list[str], log: IO[str] | None) -> list[int]:
    """Run a lane, and return how each of its runs ended; its output goes to a file, or at once to the terminal."""
    return [
        subprocess.run(
            [sys.executable, "-m", "pytest", *arguments, *options],
            cwd=ROOT,
            env=environment(),
            stdout=log,
            check=False,
        ).returncode
        for arguments in lane
    ]


def run_all(suite: str, options: list[str]) -> list[int]:
    """Run the lanes of a suite; only the first writes at once, the others when all have ended."""
    first, *behind = lanes(suite)
    with ExitStack() as stack, ThreadPoolExecutor(len(behind) + 1) as pool:
        logs = [stack.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in behind]
        ends = [pool.submit(run, lane, options, log) for lane, log in zip([first, *behind], [None, *logs], strict=True)]
        results = [result for end in ends for result in end.result()]
        for log in logs:
            log.seek(0)
            sys.stdout.write(log.read())
    return results


def environment() -> dict[str, str]:
    """Return the processes' environment: what one compiles the others read. To compile it takes each of dozens 13 s."""
    variables = os.environ | {"MALLOC_ARENA_MAX": "2"}  # as in the Dockerfile: what a run of the app took is given back
    if sys.dont_write_bytecode:
        variables |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "compiled")}
    return variables


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
    results = run_all(suite, options)
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
