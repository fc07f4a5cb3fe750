"""The atlases that ship with the app: ``python -m tools.atlas [MODEL ...]`` computes them again."""
