"""Two sequences: the words of one text attend to the words of another."""
