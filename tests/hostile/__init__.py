"""What is meant to break the server."""
