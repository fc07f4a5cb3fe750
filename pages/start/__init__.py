"""The first page: what this is, one head on one sentence, and the ways in."""
