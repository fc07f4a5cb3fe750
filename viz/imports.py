"""Import torch and transformers, which import themselves in circles: two threads at once may each get half of one."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_alone = RLock()


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
