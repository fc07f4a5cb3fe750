"""A long text."""
