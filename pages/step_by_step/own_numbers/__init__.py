"""Numbers of the visitor's, from X to what leaves the layer; and three puzzles on them."""
