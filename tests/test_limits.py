"""Limits that an operator may change, and limits that are written in two places."""

import tomllib
from pathlib import Path

import pytest

from viz import limits
from viz.components import head_grid
from viz.models import registry

SERVER = tomllib.loads((Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text("utf8"))["server"]


def test_environment_overrides_limits(monkeypatch):
    """The environment overrides the limits that it names."""
    assert limits.read_integer("QUEUE", 256, 1, 1000) == 256
    monkeypatch.setenv("HEADLIGHT_QUEUE", "7")
    assert limits.read_integer("QUEUE", 256, 1, 1000) == 7
    monkeypatch.setenv("HEADLIGHT_QUEUE", "")
    assert limits.read_integer("QUEUE", 256, 1, 1000) == 256
    monkeypatch.setenv("HEADLIGHT_MODELS", "gpt2, twin-g8 ")
    assert limits.names("MODELS") == ("gpt2", "twin-g8")


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "9999"])
def test_unusable_limit_is_refused_at_start(monkeypatch, value):
    monkeypatch.setenv("HEADLIGHT_QUEUE", value)
    with pytest.raises(ValueError, match=f"HEADLIGHT_QUEUE=.{value}. is not a whole number from 1 to 1000"):
        limits.read_integer("QUEUE", 256, 1, 1000)


def test_server_limits_equal_page_limits():
    """The server refuses the same sizes as the pages."""
    assert SERVER["maxUploadSize"] * 10**6 == limits.PICTURE_BYTES
    assert SERVER["maxWidgetStateSize"] * 10**6 == limits.MESSAGE_BYTES


def test_message_limit_fits_largest_wall():
    """Messages to the browser have room for the largest wall of heads, and little more."""
    largest = max(head_grid.EXACT_BYTES, head_grid.POOLED_BYTES)
    assert 1.25 * largest < SERVER["maxMessageSize"] * 10**6 < 4 * largest


def test_models_fit_into_memory():
    """Every listed model fits into memory; the default one stays beside the largest."""
    sizes = sorted(4 * entry.parameters for entry in registry.entries())
    assert 4 * registry.entries()[0].parameters + sizes[-1] + sizes[-2] <= limits.MODELS_BYTES
