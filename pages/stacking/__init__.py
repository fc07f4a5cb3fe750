"""Stacking layers: where words come from, and what depth does."""
