"""The search: what it knows, what it finds first, and typos."""
