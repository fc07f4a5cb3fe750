"""A lock for imports of torch and transformers.

Their modules import each other in circles: of two threads that import at once, one may get a module that is not
complete, and fail (``import torch._dynamo`` beside ``import torch._inductor``; ``transformers`` beside itself).
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_alone = RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Import something large in one thread at a time, without garbage collection: what is imported stays."""
    with _alone:
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_collecting:
                gc.enable()
