"""Two sequences: the words of one text look at the words of another."""
