"""The search: its index, its order of results, and typos."""
