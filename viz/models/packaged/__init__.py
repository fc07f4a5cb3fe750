"""Models that a package carries as one file in a format of its own: read as they are, with nothing kept on disk.

The packages' code is never imported: only the file is wanted. Reading takes about as long as reading the same weights
from safetensors would, at a sixth of the bytes, so there is no second copy of them anywhere.
"""

from pathlib import Path

from viz.models.packaged import e5, gguf
from viz.models.packaged.parts import Parts

READERS = {gguf.MAGIC: gguf.read, e5.MAGIC: e5.read}


def read(file: Path) -> Parts:
    """Read a file of weights in any of the formats.

    Raises:
        ValueError: if it has none of them.
    """
    with file.open("rb") as stream:
        magic = stream.read(4)
    if magic not in READERS:
        raise ValueError(f"{file.name} begins with {magic!r}, which no format known here does")
    return READERS[magic](file)


__all__ = ["READERS", "Parts", "read"]
