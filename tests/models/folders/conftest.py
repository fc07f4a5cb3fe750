"""Copies of small checkpoints, to be changed by the tests of this folder."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.models.conftest import Checkpoint


@pytest.fixture
def copy_of(checkpoint: Checkpoint, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies a family's checkpoint under a name."""
    return lambda family, name="mine": shutil.copytree(checkpoint(family), tmp_path / name)


@pytest.fixture
def folder(copy_of: Callable[..., Path]) -> Path:
    """A copy of Llama's checkpoint."""
    return copy_of("llama")
