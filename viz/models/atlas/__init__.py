"""Every head of a model over a corpus: the corpus, the passes, a model of random weights, the files that ship."""
