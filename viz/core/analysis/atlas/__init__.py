"""Atlas of a model's heads over many texts: scores of each text, intervals of their means, and labels."""
