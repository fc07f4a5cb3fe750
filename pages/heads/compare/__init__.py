"""Two texts, or two models, side by side: ``second.py`` asks for the second, ``picture.py`` shows both."""
