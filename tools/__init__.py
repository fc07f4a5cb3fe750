"""Commands that write files of the project, try newer packages, or go through the app: ``python -m tools.lock``."""
