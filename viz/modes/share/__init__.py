"""Sharing a page: its address, a QR code, and HTML to embed it in another site."""

from viz.modes.share.panel import MODE

__all__ = ["MODE"]
