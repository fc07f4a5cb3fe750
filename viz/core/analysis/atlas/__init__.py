"""What every head of a model does over many texts: scores of each text, what is sure of their means, and labels."""
