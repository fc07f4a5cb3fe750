"""The app as a whole: what serves it, at a desk or for many, and what one run of it draws."""
