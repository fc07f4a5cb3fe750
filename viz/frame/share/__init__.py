"""Passing on what a page shows: its address, a code for a phone's camera, a frame for somebody else's page."""
