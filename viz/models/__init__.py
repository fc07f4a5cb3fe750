"""Pretrained models and seeded heads, read the same way: ``load`` a model, ``capture`` a text, look at a layer."""

from viz.errors import ModelError
from viz.models.capture import Capture, capture
from viz.models.layout import LoadedModel
from viz.models.load import load

__all__ = ["Capture", "LoadedModel", "ModelError", "capture", "load"]
