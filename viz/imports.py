"""Import torch and transformers, which import themselves in circles: two threads at once may each get half of one."""

import ctypes
import gc
import os
import sys
import zoneinfo  # noqa: F401 -- compiled code, which Streamlit's server imports as it begins (load_libraries)
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import RLock, Thread

TORCH = "torch"
LIBRARY = "lib/libtorch.so"
"""In torch's folder: it brings all that torch computes with. None of it knows of Python."""
_alone = RLock()


def load_libraries() -> Thread | None:
    """Load what torch computes with, a quarter of a second, in a thread that nobody waits for; the thread.

    Loaded by the import, it would keep all of Python waiting. Meanwhile whoever imports other compiled code waits.
    Where torch has no such file (on other systems), or is here, nothing is done.
    """
    torch = None if TORCH in sys.modules else find_spec(TORCH)
    for folder in (torch and torch.submodule_search_locations) or ():
        if (library := Path(folder, LIBRARY)).is_file():
            thread = Thread(target=_load, args=(os.fsencode(library),), name="libraries")
            thread.start()  # no daemon: a program that ends while it loads would crash
            return thread
    return None


def _load(library: bytes) -> None:
    """``ctypes.CDLL(library)`` would hold up other threads; to call a function by way of ctypes does not."""
    load = ctypes.CDLL(None).dlopen
    load.argtypes, load.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
    load(library, os.RTLD_NOW)  # if it cannot be loaded, the import says why


@contextmanager
def importing() -> Iterator[None]:
    """Import something large, in one thread at a time. What is imported stays: to look for garbage in it is in vain."""
    with _alone:
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_collecting:
                gc.enable()
