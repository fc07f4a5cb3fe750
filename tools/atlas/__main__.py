"""Compute the atlases that ship with the app and write them: ``python -m tools.atlas [MODEL ...]``."""

import sys
import time
from dataclasses import replace
from datetime import UTC, datetime

import torch

from tools.atlas.encoding import encode_atlas
from tools.atlas.removal import with_removal
from viz.models.atlas.corpus import sentences
from viz.models.atlas.file import FOLDER, SHIPPED, path_of
from viz.models.atlas.make import make
from viz.models.load import load


def main(*models: str) -> None:
    """Write the atlas of each model that is named, or of all; a model must be on this machine."""
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    today = datetime.now(UTC).date().isoformat()
    for name, corpus in SHIPPED:
        if models and name not in models:
            continue
        model = load(name)
        began, spent = time.monotonic(), time.process_time()
        atlas = make(model, corpus, sentences(corpus))
        seconds, processor = time.monotonic() - began, time.process_time() - spent
        path_of(name, corpus).write_text(encode_atlas(replace(with_removal(atlas, model), made=today)), "utf-8")
        size = path_of(name, corpus).stat().st_size
        took = f"{seconds:.1f} s ({processor:.1f} s of one core) without removal"
        sys.stdout.write(f"{name}: {len(atlas.lines)} lines in {took}, {size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
