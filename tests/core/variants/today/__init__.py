"""Tests of attention as it is deployed today."""
