"""Terms of the field in the sentences of every page: where they are marked, and where they lead."""
