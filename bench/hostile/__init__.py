"""Input meant to break the server."""
