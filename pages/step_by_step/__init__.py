"""One head, from token vectors to output."""
