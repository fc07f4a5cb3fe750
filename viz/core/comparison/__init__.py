"""Two texts compared: which token stands for which, and how far the maps of a head are apart."""
