"""Twins with attention of today: the same task and recipe, one thing changed in the heads."""
