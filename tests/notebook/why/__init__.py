"""Tests of ``viz.why``."""
