"""The page about Headlight: authors, licence, and privacy of users' input."""
