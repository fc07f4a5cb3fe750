"""Small checkpoints for the tests of this folder, saved once; no test in it may use the network."""

import socket
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import checkpoints
from tests.packaged import load_packaged
from viz.models import LoadedModel
from viz.models.load import load

Checkpoint = Callable[[str], Path]
FamilyLoader = Callable[[str], LoadedModel]


@pytest.fixture(autouse=True, scope="package")
def no_network() -> Iterator[None]:
    """Fail on the first look-up of a name or connection to another machine."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"a test tried the network: {args}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", refuse)
        patch.setattr(socket.socket, "connect", refuse)
        yield


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """Return the folder of a family's checkpoint."""
    return cache(lambda name: checkpoints.save(name, tmp_path_factory.mktemp("models") / name))


@pytest.fixture(scope="session")
def load_family(checkpoint: Checkpoint) -> FamilyLoader:
    """Load a family's checkpoint by Headlight."""
    return cache(lambda name: checkpoints.open_folder(checkpoint(name)))


@pytest.fixture(scope="session")
def minilm() -> LoadedModel:
    """The default model: all-MiniLM-L6-v2 as installed."""
    return load("all-MiniLM-L6-v2")


@pytest.fixture(scope="package")
def smollm2() -> LoadedModel:
    """SmolLM2-135M-Instruct from its package."""
    return load_packaged("SmolLM2-135M-Instruct")


@pytest.fixture(scope="package")
def e5() -> LoadedModel:
    """multilingual-e5-small from its package."""
    return load_packaged("multilingual-e5-small")
