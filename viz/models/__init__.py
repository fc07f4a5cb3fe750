"""Pretrained models and seeded heads, read the same way: ``capture`` a text, look at a layer.

:func:`viz.models.load.load` opens a model. It brings every reader of files with it, which no page needs to be drawn.
"""

from viz.errors import ModelError
from viz.models.capture import Capture, capture
from viz.models.layout import LoadedModel

__all__ = ["Capture", "LoadedModel", "ModelError", "capture"]
