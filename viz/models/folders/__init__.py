"""Models' folders as they lie on disk: what a training, a wrapper or an older library left there, recognised."""
