"""Several heads in a layer, and the part of the input that each can see."""
