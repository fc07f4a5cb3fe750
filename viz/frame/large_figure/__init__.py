"""The large figure of a picture, for close work."""
