"""The app: its servers, for one user or for many, and one run of its script."""
