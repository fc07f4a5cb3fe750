"""A lock for imports of torch and transformers.

Their modules import each other in circles: of two threads that import at once, one may get a module that is not
complete, and fail (``import torch._dynamo`` beside ``import torch._inductor``; ``transformers`` beside itself).
"""

import gc
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

_alone = RLock()


def name_folders() -> None:
    """On a read-only system, name a folder for temporary files and one for torch's compiler that exist.

    Its modules, which transformers imports, ask for the one and make the other. Nothing is written: the app compiles
    nothing, and keeps uploads in memory.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = str(Path(__file__).parent)
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.tempdir)


@contextmanager
def importing() -> Iterator[None]:
    """Import something large in one thread at a time, without garbage collection: what is imported stays."""
    with _alone:
        name_folders()
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_collecting:
                gc.enable()
