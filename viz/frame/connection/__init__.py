"""The two moments when a browser and the server know different things: a server's first run, and a lost connection."""
