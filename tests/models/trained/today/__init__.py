"""Tests of the twins with attention of today."""
