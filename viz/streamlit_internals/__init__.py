"""All private names of Streamlit's that the app uses, to check when its version changes.

``required.py`` lists those that the safety of a public server depends on; the others are optional (``optional.py``).
"""

import viz.streamlit_internals.version  # noqa: F401 - before any private name is imported
