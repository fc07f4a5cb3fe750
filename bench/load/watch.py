"""The cost of a process under load: its memory and its work, from /proc."""

import asyncio
import os
import time
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def memory_of(pid: int) -> float:
    """MB of a process in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6


def work_of(pid: int) -> float:
    """Seconds of processor time a process has used."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS


@dataclass
class Watch:
    """Memory of a process, once a second, and its work meanwhile."""

    pid: int
    memory: list[tuple[float, float]] = field(default_factory=list)
    work: float = 0.0
    """Seconds of processor time."""

    async def follow(self) -> None:
        """Take notes until cancelled, or until the process is gone."""
        began, before = time.monotonic(), work_of(self.pid)
        while Path(f"/proc/{self.pid}").exists():
            self.memory.append((time.monotonic() - began, memory_of(self.pid)))
            self.work = work_of(self.pid) - before
            await asyncio.sleep(1)

    @property
    def most(self) -> float:
        """MB, at any time."""
        return max(size for _, size in self.memory)

    def growth(self) -> float:
        """MB by which the floor rose over the last two thirds of the time; what comes before is warming up.

        The floor is the lowest of a quarter of that time: a computation may take 100 MB and give them back.
        """
        sizes = [size for _, size in self.memory[len(self.memory) // 3 :]]
        quarter = ceil(len(sizes) / 4)
        return min(sizes[-quarter:]) - min(sizes[:quarter])

    def curve(self, points: int = 12) -> list[tuple[float, float]]:
        """A few of the notes, evenly spread, the last one included."""
        last = len(self.memory) - 1
        return [self.memory[round(last * i / (points - 1))] for i in range(points)] if last > 0 else self.memory
