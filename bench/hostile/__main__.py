"""Random links on every page of the hosting entry: ``python -m bench.hostile --links 250``; prints the faults."""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from bench.hostile.links import QUICK, a_link
from bench.load.tab import Answer, Tab
from bench.load.visitor import PATHS
from tests.browser.drive import ROOT, serve
from viz.text import LANGUAGES, sentences

FAILED = tuple(sentences(lang)["error.failed"].partition("{kind}")[0] for lang in LANGUAGES)


def wrong(answer: Answer) -> list[str]:
    """Return the faults of an answer that no user should see; an explanation (a text without a word) is none."""
    nothing = [] if answer.messages and answer.titles else ["no title"]
    return [*answer.exceptions, *(box for box in answer.boxes if box.startswith(FAILED)), *nothing]


async def open_links(url: str, number: int, seed: int = 0) -> list[tuple[str, dict[str, str], list[str]]]:
    """Open random links, four at a time, each page four times at least; return those with faults."""
    chance = random.Random(seed)
    paths = [*PATHS] * 4
    paths += chance.choices(QUICK, k=max(0, number - len(paths)))
    links = [(path, a_link(chance)) for path in paths]
    faults = []

    async def open_some() -> None:
        while links:
            path, link = links.pop()
            async with Tab(url) as tab:
                answer = await tab.open(path, **link)
            if wrong(answer):
                faults.append((path, link, wrong(answer)))

    await asyncio.gather(*(open_some() for _ in range(4)))
    return faults


def main() -> int:
    """Start a server, open the links and print their faults."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=__doc__)
    parser.add_argument("--links", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve(ROOT / "serve.py", Path(folder) / "log.txt") as running:
        faults = asyncio.run(open_links(running.url, options.links, options.seed))
    print(*faults, f"{len(faults)} faults", sep="\n")  # noqa: T201
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
