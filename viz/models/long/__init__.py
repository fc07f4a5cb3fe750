"""A long text as a model sees it: q and k alone, packed."""
