"""Every term of the field, and where it can be touched."""
