"""Headlight: every idea of multi-head attention, touchable. Start reading at ``viz/core/attention.py``."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"
