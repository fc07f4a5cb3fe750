"""One head on a long text, row by row: what it does, without the matrix of all its weights."""
