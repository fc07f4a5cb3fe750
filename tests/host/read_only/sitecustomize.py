"""Has every file of a process be on a read-only system, temporary folders included."""

import errno
import os
import sys
from typing import Any

CHANGES = ("os.mkdir", "os.rename", "os.link", "os.symlink")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def refuse(event: str, args: tuple[Any, ...]) -> None:
    """Refuse to write; devices are no files."""
    if event == "os.mkdir" and os.path.isdir(args[0]):  # noqa: PTH112 - the system says first that it is there
        return
    is_written = event == "open" and isinstance(args[2], int) and args[2] & WRITES
    if event in CHANGES or (is_written and not str(args[0]).startswith("/dev/")):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(args[0]))


sys.addaudithook(refuse)
